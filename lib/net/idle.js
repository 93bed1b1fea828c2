'use strict';

// The timeout of a connection: the event `timeout` when nothing has moved for so long. As in
// node:net it closes nothing, and does not keep the process alive.

const { performance } = require('perf_hooks');
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
  if (time > 0 && connection._phase < states.CLOSING) arm(connection, time);
}

/**
 * @param {Connection} connection
 * @param {number} time
 */
function arm(connection, time) {
  const since = performance.now();
  /** How much a pipe had moved when it was last told idle. */
  let told = -1;
  const expire = () => {
    const { _pipe: pipe } = connection;
    if (pipe !== null) {
      // What a pipe moves is seen only when it is asked for, so it is asked again.
      const { idle, moved } = pipe.traffic();
      const left = time - Math.min(idle, performance.now() - since);
      start(left > 0 ? left : time);
      if (left > 0 || moved === told) return;
      told = moved;
    }
    asyncContext.emit(connection._asyncContext, connection, 'timeout');
  };
  const start = (/** @type {number} */ delay) => {
    connection._idle = setTimeout(expire, delay);
    connection._idle.unref();
  };
  start(time);
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
