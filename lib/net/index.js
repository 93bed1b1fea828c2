'use strict';

const Connection = require('./connection.js');
const Server = require('./server.js');
const options = require('./options.js');
const reactor = require('./reactor.js');
const stage = require('./stage.js');
const { pool } = require('./pool.js');
const validate = require('./validate.js');

/**
 * @param {any} [given]
 * @param {any} [onconnection]
 */
function createServer(given, onconnection) {
  if (typeof given === 'function') [given, onconnection] = [null, given];
  const listener = validate.optionalCallback(onconnection, 'onconnection');
  const server = new Server(given);
  if (listener !== null) server.on('connection', listener);
  return server;
}

/**
 * connect(port, [host], [options], [listener]) and connect(options, [listener]).
 *
 * @param {...any} given
 */
function connect(...given) {
  const { settings, listener } = options.connectArguments(given);
  const connection = new Connection();
  if (listener !== null) connection.once('connect', listener);
  connection._connect(settings);
  return connection;
}

/** What sockets have done in this environment so far. */
function counters() {
  return { ...reactor.counters(), bytesCopied: stage.bytesCopied() };
}

module.exports = { Connection, Server, connect, counters, createServer, pool };
