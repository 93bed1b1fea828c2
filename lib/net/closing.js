'use strict';

// The end of a connection. The descriptor is closed at once; then, in later rounds, come the
// callbacks of everything that was pending: writes, end(), close(), reads, and at last `close`.

const errors = require('../errors.js');
const asyncContext = require('./async-context.js');
const reactor = require('./reactor.js');
const stage = require('./stage.js');
const states = require('./states.js');
const { Queue, acquireStep } = require('./request.js');

/** @typedef {import('./connection.js')} Connection */
/** @typedef {import('./request.js').Request} Request */

/**
 * Closes a connection and tells everything that is pending.
 *
 * @param {Connection} connection
 * @param {Error | null} error why, or null where it is what the program wanted
 * @param {boolean} [isHeard] whether a callback has taken the error already
 */
function teardown(connection, error, isHeard = false) {
  if (connection._state >= states.CLOSING) return;
  const wasConnecting = connection._state === states.CONNECTING;
  // From here on nothing is staged for it: its requests are among those that wait.
  if (stage.currentOwner() === connection) {
    stage.clear();
    connection._writes.append(stage.requests);
  }
  connection._connecting?.stop();
  connection._closeNative();
  connection._letGoAll();
  connection._state = states.CLOSING;
  connection.readable = connection.writable = false;

  const unready = wasConnecting ? (error ?? errors.closedBeforeConnection()) : error;
  const { _reads: reads, _writes: writes, _ends: ends } = connection;
  const heard =
    giveError(reads, unready ?? errors.socketClosed()) +
    giveError(writes, unready ?? errors.streamDestroyed('write')) +
    giveError(ends, unready ?? errors.socketClosed());

  if (wasConnecting) completeInOrder(reads, writes, ends);
  reactor.completeAll(writes);
  if (connection._ending && !connection._shut && !wasConnecting) {
    connection._shut = true;
    step(connection, states.FINISH, unready ?? errors.socketClosed());
  }
  step(connection, states.CLOSE, isHeard || heard > 0 ? null : error);
}

/**
 * The step CONNECT_FAILED: whatever was queued is told first, then the event.
 *
 * @param {Connection} connection
 * @param {Error} error
 */
function connectFailed(connection, error) {
  if (connection._state !== states.CONNECTING) return; // It was given up meanwhile.
  const { _reads: reads, _writes: writes, _ends: ends } = connection;
  for (const queue of [reads, writes, ends]) giveError(queue, error);
  completeInOrder(reads, writes, ends);
  step(connection, states.CONNECT_ERROR, error);
  teardown(connection, null);
}

/**
 * The step CLOSE.
 *
 * @param {Connection} connection
 * @param {Error | null} unheard an error that no callback took
 */
function closed(connection, unheard) {
  connection.closed = true;
  connection._state = states.CLOSED;
  connection._server?._removeConnection(connection);
  connection._server = null;
  const last = new Queue();
  last.append(connection._closes);
  last.append(connection._reads);
  if (unheard !== null) last.push(acquireStep(connection, states.UNHEARD_ERROR, unheard));
  last.push(acquireStep(connection, states.CLOSE_EVENT, null));
  reactor.runNext(last);
}

/**
 * An error that no callback took is an event, if there is somebody to hear it.
 *
 * @param {Connection} connection
 * @param {Error} error
 */
function emitUnheard(connection, error) {
  if (connection.listenerCount('error') === 0) return;
  asyncContext.emit(connection._context, connection, 'error', error);
}

/**
 * @param {Connection} connection
 * @param {number} number
 * @param {Error | null} error
 */
function step(connection, number, error) {
  reactor.complete(acquireStep(connection, number, error));
}

/**
 * @param {Queue} queue
 * @param {Error} error
 * @returns {number} how many callbacks will take it
 */
function giveError(queue, error) {
  let heard = 0;
  for (let request = queue.head; request !== null; request = request.next) {
    request.error = error;
    if (request.callback !== null) heard++;
  }
  return heard;
}

/**
 * Completes all, in the order in which they were called.
 *
 * @param {...Queue} queues
 */
function completeInOrder(...queues) {
  const requests = queues.flatMap((queue) => queue.takeAll());
  requests.sort((a, b) => (a.order - b.order) | 0);
  for (const request of requests) reactor.complete(request);
}

module.exports = { closed, connectFailed, emitUnheard, step, teardown };
