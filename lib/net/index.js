'use strict';

const errors = require('../errors.js');
const Connection = require('./connection.js');
const Server = require('./server.js');
const options = require('./options.js');
const reactor = require('./reactor.js');
const stage = require('./stage.js');
const { pool } = require('./pool.js');
const validate = require('./validate.js');

/** Longer than this would keep other things of the event loop waiting, in microseconds. */
const MAX_BUSY_POLL = 1000;

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

/**
 * For how long the event loop asks again what is ready, instead of sleeping.
 *
 * @param {number} microseconds
 */
function setBusyPoll(microseconds) {
  const time = validate.number('microseconds', microseconds);
  if (!(time >= 0 && time <= MAX_BUSY_POLL)) {
    throw errors.outOfRange('microseconds', `>= 0 and <= ${MAX_BUSY_POLL}`, time);
  }
  reactor.open().setBusyPoll(Math.round(time));
}

/** What sockets have done in this environment so far. */
function counters() {
  return { ...reactor.counters(), bytesCopied: stage.bytesCopied() };
}

module.exports = { Connection, Server, connect, counters, createServer, pool, setBusyPoll };
