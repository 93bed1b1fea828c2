'use strict';

const errors = require('../errors.js');
const Connection = require('./connection.js');
const Server = require('./server.js');
const reactor = require('./reactor.js');
const stage = require('./stage.js');
const validate = require('./validate.js');

/**
 * @param {any} [options]
 * @param {any} [onconnection]
 */
function createServer(options, onconnection) {
  if (typeof options === 'function') [options, onconnection] = [null, options];
  checkOptions(options);
  const listener = validate.optionalCallback(onconnection);
  const server = new Server(options);
  if (listener !== null) server.on('connection', listener);
  return server;
}

/**
 * @param {number | string} port
 * @param {any} [host]
 * @param {any} [options]
 */
function connect(port, host, options) {
  if (typeof host === 'object' && host !== null) [host, options] = [null, host];
  if (typeof port === 'object' && port !== null) {
    throw errors.invalidArgType(
      'port',
      'a number or digits, as in connect(port, [host], [options])',
      port,
    );
  }
  if (typeof host === 'function' || typeof options === 'function') {
    const expected = "of type object. There is no callback: listen for the event 'connect'";
    throw errors.invalidArgType('options', expected, host ?? options);
  }
  checkOptions(options);
  const number = validate.port(port);
  const name = host || '127.0.0.1';
  validate.host('host', name);
  const connection = new Connection();
  connection.allowHalfOpen = !!options?.allowHalfOpen;
  connection._connect(number, name, Boolean(options?.noDelay ?? true));
  return connection;
}

/** @param {unknown} options */
function checkOptions(options) {
  if (options !== undefined && options !== null && typeof options !== 'object') {
    throw errors.invalidArgType('options', 'of type object', options);
  }
}

/** What sockets have done in this environment so far. */
function counters() {
  return { ...reactor.counters(), bytesCopied: stage.bytesCopied() };
}

module.exports = { Connection, Server, connect, counters, createServer };
