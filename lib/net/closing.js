'use strict';

// The end of a connection. The descriptor is closed at once; then, in later rounds, come the
// callbacks of everything that was pending: writes, end(), close(), reads, and at last `close`.

const errors = require('../errors.js');
const asyncContext = require('./async-context.js');
const idle = require('./idle.js');
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
 * @param {Error | null} [readError] what reads are told instead
 */
function teardown(connection, error, readError = error) {
  if (connection._phase >= states.CLOSING) return;
  if (error === null && connection._failure !== null) {
    error = connection._failure;
    readError = connection._readFailure;
  }
  connection._pipe?.stop(error ?? errors.socketClosed(), connection._self);
  const wasConnecting = connection._phase === states.CONNECTING;
  connection._connecting?.stop();
  clearTimeout(connection._linger);
  idle.clear(connection);
  connection._abortion?.forget();
  connection._abortion = null;
  connection._phase = states.CLOSING;
  connection._failure = error;
  connection._readFailure = readError;
  connection.readable = false;
  if (wasConnecting) {
    failQueued(connection, error ?? errors.closedBeforeConnection());
    connection.writable = false;
    connection._bytesWaiting = 0;
    connection._needsDrain = false;
  } else {
    endWriting(connection, error);
    giveError(connection, connection._reads, readError ?? errors.socketClosed());
  }
  connection._closeNative();
  connection._letGoAll();
  step(connection, states.CLOSE, error);
}

/**
 * A write, or the end of our side, has met that there is no connection any more, and nothing can be
 * written. Bytes that came before are still read, as long as reads are queued; then the connection
 * closes.
 *
 * @param {Connection} connection
 * @param {Error} error
 */
function fail(connection, error) {
  if (connection._phase >= states.CLOSING) return;
  const readError = errors.ofRead(error);
  if (connection._reads.head === null) {
    teardown(connection, error, readError);
    return;
  }
  connection._failure ??= error;
  connection._readFailure ??= readError;
  connection._ready = connection._hungUp = true; // The kernel will tell nothing more.
  endWriting(connection, error);
  reactor.list(connection);
}

/**
 * Tells all writes, and who wants our side ended.
 *
 * @param {Connection} connection
 * @param {Error | null} error
 */
function endWriting(connection, error) {
  const { _writes: writes, _ends: ends } = connection;
  connection.writable = false;
  // From here on nothing is staged for it: its requests are among those that wait.
  if (stage.belongsTo(connection)) {
    stage.clear();
    writes.append(stage.requests);
  }
  connection._bytesWaiting = 0;
  connection._needsDrain = false;
  giveError(connection, writes, error ?? errors.streamDestroyed('write'));
  reactor.completeAll(writes);
  if (!connection._ending || connection._shut) return;
  connection._shut = true;
  giveError(connection, ends, error ?? errors.socketClosed());
  step(connection, states.FINISH, error ?? errors.socketClosed());
}

/**
 * The step CONNECT_FAILED: whatever was queued is told first, then the event.
 *
 * @param {Connection} connection
 * @param {Error} error
 */
function connectFailed(connection, error) {
  if (connection._phase !== states.CONNECTING) return; // It was given up meanwhile.
  failQueued(connection, error);
  connection._pipe?.stop(error, connection);
  step(connection, states.CONNECT_ERROR, error);
  teardown(connection, null);
}

/**
 * The step CLOSE.
 *
 * @param {Connection} connection
 * @param {Error | null} error why, which is an event if no callback takes it
 */
function closed(connection, error) {
  connection.closed = true;
  connection._phase = states.CLOSED;
  connection._server?._removeConnection(connection._self);
  connection._server = null;
  const last = new Queue();
  last.append(connection._closes);
  last.append(connection._reads);
  if (error !== null && !connection._failureHeard) {
    last.push(acquireStep(connection, states.UNHEARD_ERROR, error));
  }
  last.push(acquireStep(connection, states.CLOSE_EVENT, null));
  // In a round of their own: what was called before now is told before `close`.
  reactor.completeAll(last);
}

/**
 * An error that no callback took is an event, if there is somebody to hear it.
 *
 * @param {Connection} connection
 * @param {Error} error
 */
function emitUnheard(connection, error) {
  if (connection.listenerCount('error') === 0) return;
  asyncContext.emit(connection._asyncContext, connection, 'error', error);
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
 * Gives an error to all that have none yet.
 *
 * @param {Connection} connection
 * @param {Queue} queue
 * @param {Error} error
 */
function giveError(connection, queue, error) {
  for (let request = queue.head; request !== null; request = request.next) {
    if (request.error !== null) continue;
    request.error = error;
    if (request.callback !== null) connection._failureHeard = true;
  }
}

/**
 * Completes all that was queued before there was a connection, in the order of the calls.
 *
 * @param {Connection} connection
 * @param {Error} error
 */
function failQueued(connection, error) {
  const queues = [connection._reads, connection._writes, connection._ends];
  for (const queue of queues) giveError(connection, queue, error);
  const requests = queues.flatMap((queue) => queue.takeAll());
  requests.sort((a, b) => (a.order - b.order) | 0);
  for (const request of requests) reactor.complete(request);
}

module.exports = { closed, connectFailed, emitUnheard, fail, step, teardown };
