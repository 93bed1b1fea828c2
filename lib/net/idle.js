'use strict';

// The timeout of a connection: the event `timeout` when nothing has moved for so long. As in
// node:net it closes nothing, and does not keep the process alive.

const asyncContext = require('./async-context.js');
const states = require('./states.js');

/** @typedef {import('./connection.js')} Connection */

/**
 * @param {Connection} connection
 * @param {number} time in milliseconds; 0 is none
 */
function set(connection, time) {
  clear(connection);
  connection.timeout = time;
  if (time === 0 || connection._phase >= states.CLOSING) return;
  connection._idle = setTimeout(() => {
    if (connection._pipe?.hasMoved()) refresh(connection);
    else asyncContext.emit(connection._asyncContext, connection, 'timeout');
  }, time);
  connection._idle.unref();
}

/**
 * Hot: something has moved. What is written before there is a connection has not: it must not keep
 * the attempt from its timeout.
 *
 * @param {Connection} connection
 */
function refresh(connection) {
  if (connection._idle !== null && connection._phase !== states.CONNECTING) {
    connection._idle.refresh();
  }
}

/** @param {Connection} connection */
function clear(connection) {
  if (connection._idle === null) return;
  clearTimeout(connection._idle);
  connection._idle = null;
}

module.exports = { clear, refresh, set };
