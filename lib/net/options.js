'use strict';

// The arguments of connect() and listen(), in the words of node:net and in the order of turbo-net,
// as one object each in which everything was checked.

const { ADDRCONFIG } = require('dns');
const { isIP } = require('net');
const errors = require('../errors.js');
const validate = require('./validate.js');

/** Where turbo-net connects to and listens. */
const LOOPBACK = '127.0.0.1';
const ANY = '0.0.0.0';

/** How many connections may wait to be accepted; that of node:net. */
const BACKLOG = 511;

/** A number of seconds that stands for no probes. */
const NO_KEEP_ALIVE = -1;
/** The longest time before a probe that every system takes, in seconds. */
const MAX_KEEP_ALIVE = 32_767;

/**
 * What a socket is given at its birth.
 *
 * @typedef {object} SocketSettings
 * @property {boolean} allowHalfOpen
 * @property {boolean} noDelay
 * @property {number} keepAlive in seconds: 0 leaves the time to the system, below 0 no probes
 */

/** @typedef {ReturnType<typeof connectSettings>} ConnectSettings */
/** @typedef {ReturnType<typeof listenSettings>} ListenSettings */

/**
 * connect(port, [host], [options], [listener]) and connect(options, [listener]).
 *
 * @param {unknown[]} given
 */
function connectArguments(given) {
  const values = [...given];
  const listener = takeListener(values);
  /** @type {any} */
  let options;
  if (isObject(values[0])) {
    options = values[0];
  } else {
    const [port, host, more] = values;
    options = isObject(host) ? host : more;
    validate.options(options);
    options = { ...options, port };
    if (host && !isObject(host)) options.host = host;
  }
  return { settings: connectSettings(options), listener };
}

/** @param {any} options */
function connectSettings(options) {
  const { host, lookup, family, hints, localAddress, localPort, signal, timeout } = options;
  refuseOthers(options, ['path', 'fd']);
  if (host) validate.string('host', host);
  if (isGiven(lookup)) validate.callback(lookup, 'options.lookup');
  if (localAddress && isIP(localAddress) === 0) throw errors.invalidAddress(localAddress);
  validate.signal(signal || undefined);
  const chosen = validate.family(family);
  return {
    ...socketSettings(options),
    port: validate.port(options.port),
    host: /** @type {string} */ (host || LOOPBACK),
    lookup: /** @type {Function | undefined} */ (lookup ?? undefined),
    family: chosen,
    // What another lookup makes of them is its own affair.
    hints: hints ? validate.hints(hints, isGiven(lookup)) : defaultHints(chosen),
    localAddress: /** @type {string | undefined} */ (localAddress || undefined),
    localPort: localPort ? validate.port(localPort, 'options.localPort') : 0,
    signal: /** @type {AbortSignal | undefined} */ (signal || undefined),
    timeout: timeout ? validate.time('options.timeout', timeout) : 0,
  };
}

/**
 * As in node:net addresses of a family that this machine has none of are left out: to try them
 * first would hide why the others failed. On Windows its own would be left out too.
 *
 * @param {0 | 4 | 6} family
 */
function defaultHints(family) {
  return family === 0 && process.platform !== 'win32' ? ADDRCONFIG : 0;
}

/**
 * listen([port], [host], [backlog], [listener]) and listen(options, [listener]).
 *
 * @param {unknown[]} given
 */
function listenArguments(given) {
  const values = [...given];
  const listener = takeListener(values);
  /** @type {any} */
  let options;
  if (isObject(values[0])) {
    options = values[0];
  } else {
    const [port, ...rest] = values;
    const [host, backlog] = typeof rest[0] === 'number' ? [undefined, rest[0]] : rest;
    options = { port, host, backlog };
  }
  return { settings: listenSettings(options), listener };
}

/** @param {any} options */
function listenSettings(options) {
  const { port, host, backlog, signal } = options;
  if (!isGiven(port)) refuseOthers(options, ['path', 'fd']);
  if (!('port' in options))
    throw errors.invalidArgValue('options', 'must have the property "port"');
  if (host) validate.string('host', host);
  validate.signal(signal);
  return {
    port: isGiven(port) ? validate.port(port, 'options.port') : 0,
    host: /** @type {string} */ (host || ANY),
    backlog: backlog ? validate.backlog(backlog) : BACKLOG,
    ipv6Only: Boolean(options.ipv6Only),
    reusePort: Boolean(options.reusePort),
    exclusive: Boolean(options.exclusive),
    signal: /** @type {AbortSignal | undefined} */ (signal),
  };
}

/**
 * pipe(target, [options], [callback]).
 *
 * @param {any} [given]
 * @returns {{ splice: boolean, signal: AbortSignal | undefined }}
 */
function pipeSettings(given) {
  validate.options(given);
  const { splice, signal } = given ?? {};
  validate.signal(signal);
  return { splice: Boolean(splice), signal };
}

/**
 * The signal of one operation.
 *
 * @param {any} [given] options
 * @returns {AbortSignal | undefined}
 */
function operationSignal(given) {
  validate.options(given);
  const signal = given?.signal;
  validate.signal(signal);
  return signal;
}

/**
 * In node:net they stand for something else than a port, which must not be opened or reached
 * instead.
 *
 * @param {any} options
 * @param {string[]} names
 */
function refuseOthers(options, names) {
  const name = names.find((name) => isGiven(options[name]) && options[name] !== '');
  if (name === undefined) return;
  const reason = 'must not be given: there are TCP ports alone';
  throw errors.invalidArgValue(`options.${name}`, reason, options[name]);
}

/**
 * What createServer() takes for its connections, and connect() for its own.
 *
 * @param {any} [options]
 * @returns {SocketSettings}
 */
function socketSettings(options) {
  validate.options(options);
  const delay = options?.keepAliveInitialDelay;
  return {
    allowHalfOpen: Boolean(options?.allowHalfOpen),
    noDelay: Boolean(options?.noDelay ?? true),
    keepAlive: keepAlive(options?.keepAlive, delay, 'options.keepAliveInitialDelay'),
  };
}

/**
 * @param {unknown} enable
 * @param {unknown} delay in milliseconds, of which whole seconds count, as in node:net
 * @param {string} [name] of the delay
 * @returns {number} in seconds
 */
function keepAlive(enable, delay, name = 'initialDelay') {
  const time = delay === undefined ? 0 : validate.number(name, delay);
  if (!enable) return NO_KEEP_ALIVE;
  return Math.min(Math.max(Math.trunc(time / 1000) || 0, 0), MAX_KEEP_ALIVE);
}

/**
 * The callback at the end of arguments, taken off them.
 *
 * @param {unknown[]} values
 * @returns {((...values: any[]) => void) | null}
 */
function takeListener(values) {
  // What turbo-net's callers leave empty at the end.
  while (values.length > 0 && !isGiven(values.at(-1))) values.pop();
  if (typeof values.at(-1) !== 'function') return null;
  return /** @type {any} */ (values.pop());
}

/** @param {unknown} value */
function isGiven(value) {
  return value !== undefined && value !== null;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === 'object' && value !== null;
}

module.exports = {
  connectArguments,
  keepAlive,
  listenArguments,
  operationSignal,
  pipeSettings,
  socketSettings,
};
