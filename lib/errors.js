'use strict';

// Every error that oxwire makes. Codes, classes and properties are Node's own (nodejs.org/api,
// "Errors"), so that code written for node:net need not be changed.

const { format, getSystemErrorMap, getSystemErrorName, inspect } = require('util');

/** @typedef {Error & { code: string, errno?: number, syscall?: string, address?: string, port?: number }} CodedError */

/**
 * @template {new (message: string) => Error} C
 * @param {C} Class
 * @param {string} code
 * @param {string} message
 * @returns {InstanceType<C> & CodedError}
 */
function coded(Class, code, message) {
  return /** @type {any} */ (Object.assign(new Class(message), { code }));
}

/**
 * The number of an error of the system, as Node has it. On Windows os.constants has others.
 *
 * @param {string} name
 * @returns {number} negative
 */
function numberOf(name) {
  for (const [number, [code]] of getSystemErrorMap()) if (code === name) return number;
  throw new Error(`Node knows no error ${name}`);
}

/**
 * The error of a system call.
 *
 * @param {number} errno negative, as Node has it
 * @param {string} syscall
 * @param {string} [address]
 * @param {number} [port]
 * @param {string} [localAddress] where it came from; with its port, or it is not said
 * @param {number} [localPort]
 * @returns {CodedError}
 */
function system(errno, syscall, address, port, localAddress, localPort) {
  const code = getSystemErrorName(errno);
  const where = address === undefined ? '' : port ? ` ${address}:${port}` : ` ${address}`;
  const from = localPort ? ` - Local (${localAddress}:${localPort})` : '';
  // Node explains a failed listen in words, but not the others.
  const what = syscall === 'listen' ? `: ${getSystemErrorMap().get(errno)?.[1]}` : '';
  const error = new Error(`${syscall} ${code}${what}${where}${from}`);
  /** @type {Partial<CodedError>} */
  const details = { errno, code, syscall };
  if (address !== undefined) details.address = address;
  if (port) details.port = port; // Node leaves 0 out.
  if (localPort) Object.assign(details, { localAddress, localPort });
  return /** @type {CodedError} */ (Object.assign(error, details));
}

/**
 * What a read is told when a write, or the end of our side, has met the failure of a connection.
 *
 * @param {Error} error
 * @returns {Error}
 */
function ofRead(error) {
  const { code, errno, syscall } = /** @type {CodedError} */ (error);
  if (syscall !== 'write' && syscall !== 'shutdown') return error;
  // That a pipe is broken is news for the one who writes.
  return system(code === 'EPIPE' ? numberOf('ECONNRESET') : Number(errno), 'read');
}

/**
 * What the end of our side is told.
 *
 * @param {number} errno
 */
function ofShutdown(errno) {
  const error = system(errno, 'shutdown');
  // A connection that was reset is none any more; that it was one is known.
  return error.code === 'ENOTCONN' ? system(numberOf('ECONNRESET'), 'shutdown') : error;
}

/**
 * A lookup that gave no address.
 *
 * @param {string} hostname
 */
function notFound(hostname) {
  const error = coded(Error, 'ENOTFOUND', `getaddrinfo ENOTFOUND ${hostname}`);
  return Object.assign(error, { syscall: 'getaddrinfo', hostname });
}

/**
 * One error for the attempts to reach each address of a name.
 *
 * @param {CodedError[]} errors one or more
 * @returns {CodedError}
 */
function connect(errors) {
  const [first] = errors;
  if (errors.length === 1) return first;
  const { code, errno, syscall, address, port } = first;
  const message = errors.map((error) => error.message).join('; ');
  return Object.assign(new AggregateError(errors, message), {
    code,
    errno,
    syscall,
    address,
    port,
  });
}

/**
 * @param {string} name
 * @param {string} expected
 * @param {unknown} actual
 */
function invalidArgType(name, expected, actual) {
  return coded(
    TypeError,
    'ERR_INVALID_ARG_TYPE',
    `The "${name}" ${kindOf(name)} must be ${expected}. Received ${received(actual)}`,
  );
}

/** What bears a name. @param {string} name */
function kindOf(name) {
  return name.includes('.') ? 'property' : 'argument';
}

/** What was given instead. @param {unknown} value */
function received(value) {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  if (typeof value === 'object') return `an instance of ${value.constructor?.name ?? 'Object'}`;
  const isLong = typeof value === 'string' && value.length > 28;
  return `type ${typeof value} (${inspect(isLong ? `${value.slice(0, 25)}...` : value)})`;
}

/**
 * @param {string} name
 * @param {string} range
 * @param {unknown} actual
 */
function outOfRange(name, range, actual) {
  return coded(
    RangeError,
    'ERR_OUT_OF_RANGE',
    `The value of "${name}" is out of range. It must be ${range}. Received ${inspect(actual)}`,
  );
}

/**
 * @param {string} name
 * @param {string} reason
 * @param {unknown} [actual]
 */
function invalidArgValue(name, reason, actual) {
  const end = actual === undefined ? '' : `. Received ${inspect(actual).slice(0, 128)}`;
  const message = `The ${kindOf(name)} '${name}' ${reason}${end}`;
  return coded(TypeError, 'ERR_INVALID_ARG_VALUE', message);
}

/** @param {unknown} address */
function invalidAddress(address) {
  return coded(TypeError, 'ERR_INVALID_IP_ADDRESS', format('Invalid IP address: %s', address));
}

/** @param {unknown} reason that of the signal */
function aborted(reason) {
  const error = new Error('The operation was aborted', { cause: reason });
  return /** @type {CodedError} */ (
    Object.assign(error, { code: 'ABORT_ERR', name: 'AbortError' })
  );
}

/** @param {unknown} encoding */
function unknownEncoding(encoding) {
  return coded(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${inspect(encoding)}`);
}

/**
 * @param {string} name
 * @param {unknown} port
 */
function badPort(name, port) {
  const missing = port === undefined || port === null ? 'A port is missing: ' : '';
  // node:net takes other text for the path of a Unix domain socket.
  const isPath = typeof port === 'string' && Number.isNaN(Number(port));
  const kind = isPath ? ': there are TCP ports alone, and no paths' : '';
  return coded(
    RangeError,
    'ERR_SOCKET_BAD_PORT',
    `${missing}${name} should be >= 0 and < 65536${kind}. Received ${received(port)}.`,
  );
}

function bufferGone() {
  return coded(
    Error,
    'ERR_INVALID_STATE',
    'Invalid state: the buffer was detached or shrunk while it was lent to the socket; ' +
      'keep it as it is until the callback',
  );
}

function inPipe() {
  return coded(
    Error,
    'ERR_INVALID_STATE',
    'Invalid state: the socket is in a pipe, which reads and writes it until it has ended',
  );
}

function readPending() {
  return coded(
    Error,
    'ERR_INVALID_STATE',
    'Invalid state: the socket has a read pending; pipe it after the callback of the read',
  );
}

function emptyRead() {
  return invalidArgValue('buffer', 'must have room for at least one byte. It is empty or detached');
}

function notLent() {
  return invalidArgValue(
    'buffer',
    'must be a buffer that a read of the pool brought, and that was not released since; ' +
      'a write with { release: true } has its buffer already',
  );
}

function writeAfterEnd() {
  return coded(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end');
}

function socketClosed() {
  return coded(Error, 'ERR_SOCKET_CLOSED', 'Socket is closed');
}

/** @param {string} method */
function streamDestroyed(method) {
  return coded(Error, 'ERR_STREAM_DESTROYED', `Cannot call ${method} after a stream was destroyed`);
}

function closedBeforeConnection() {
  return coded(
    Error,
    'ERR_SOCKET_CLOSED_BEFORE_CONNECTION',
    'Socket closed before the connection was established',
  );
}

function serverNotRunning() {
  return coded(Error, 'ERR_SERVER_NOT_RUNNING', 'Server is not running.');
}

function serverAlreadyListen() {
  return coded(
    Error,
    'ERR_SERVER_ALREADY_LISTEN',
    'Listen method has been called more than once without closing.',
  );
}

/** @param {string} reason */
function unsupported(reason) {
  return coded(
    Error,
    'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
    `oxwire's sockets are not available here: ${reason}`,
  );
}

/**
 * The native addon is not there, or is there and can't be loaded.
 *
 * @param {{ version: string, optionalDependencies?: Record<string, string> }} manifest package.json:
 *   as published, it names a package with an addon for each platform; in a clone, none
 * @param {Error} [reason] why the addon that is there did not load
 */
function noAddon({ version, optionalDependencies }, reason) {
  const platform = `${process.platform}-${process.arch}`;
  const file = process.env.NAPI_RS_NATIVE_LIBRARY_PATH;
  const from = file ? ` (NAPI_RS_NATIVE_LIBRARY_PATH is ${file})` : '';
  if (reason) {
    // Node's words for its permission model do not name the flag.
    const advice = /addons is disabled/.test(reason.message)
      ? ' Start Node with --allow-addons.'
      : '';
    const message =
      `oxwire ${version} can't load its native addon for ${platform}${from}: ` +
      reason.message +
      advice;
    return Object.assign(coded(Error, 'ERR_DLOPEN_FAILED', message), { cause: reason });
  }
  const advice = file
    ? 'The variable takes the absolute path of the file.'
    : adviceOnAddon(platform, Object.keys(optionalDependencies ?? {}));
  const message = `oxwire ${version} has no native addon for ${platform}${from}. ${advice}`;
  return coded(Error, 'MODULE_NOT_FOUND', message);
}

/**
 * @param {string} platform
 * @param {string[]} packages one for each platform that has an addon
 */
function adviceOnAddon(platform, packages) {
  if (packages.length === 0) {
    return 'In a clone, build it: npm run build. Packages from the registry bring one.';
  }
  const platformOf = (/** @type {string} */ name) => name.replace(/^@.*?-/, '');
  const fitting = packages.filter((name) => `${platformOf(name)}-`.startsWith(`${platform}-`));
  if (fitting.length > 0) {
    return (
      `${fitting.join(' or ')} is not installed, or not whole. It is an optional dependency: ` +
      'install again with those, as by npm install --include=optional. If that brings nothing, ' +
      'delete node_modules before, and the lock file if it came from another platform.'
    );
  }
  return (
    `There are ones for ${packages.map(platformOf).join(', ')}. Elsewhere build it from its ` +
    'sources, with Rust, and set NAPI_RS_NATIVE_LIBRARY_PATH to the file.'
  );
}

/**
 * The native half is of another version, or of something else.
 *
 * @param {string} version
 * @param {string | undefined} found
 */
function otherAddon(version, found) {
  return coded(
    Error,
    'ERR_DLOPEN_FAILED',
    `oxwire ${version} found a native addon of ${found ? `version ${found}` : 'something else'}. ` +
      'Delete node_modules and install again, or in a clone run: npm run build',
  );
}

module.exports = {
  aborted,
  badPort,
  bufferGone,
  closedBeforeConnection,
  connect,
  emptyRead,
  inPipe,
  invalidAddress,
  invalidArgType,
  invalidArgValue,
  noAddon,
  notFound,
  notLent,
  numberOf,
  ofRead,
  ofShutdown,
  otherAddon,
  outOfRange,
  readPending,
  serverAlreadyListen,
  serverNotRunning,
  socketClosed,
  streamDestroyed,
  system,
  unknownEncoding,
  unsupported,
  writeAfterEnd,
};
