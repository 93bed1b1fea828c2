'use strict';

const native = require('../native.js');
const errors = require('../errors.js');
const asyncContext = require('./async-context.js');
const closing = require('./closing.js');
const idle = require('./idle.js');
const reactor = require('./reactor.js');
const { pool } = require('./pool.js');
const { sizeOf } = require('./bytes.js');
const states = require('./states.js');
const { READ, acquire, release } = require('./request.js');

/** @typedef {import('./connection.js')} Connection */
/** @typedef {import('./request.js').Request} Request */

/**
 * How long a connection whose sides are both ended is kept for bytes that nobody reads, in
 * milliseconds: a peer must not be able to leave descriptors behind for ever. With allowHalfOpen
 * the program minds both sides itself.
 */
const LINGER = 60_000;

/** What a read is given that was refused and waits to be told so: it takes no bytes. */
const NO_ROOM = new Uint8Array(0);

/**
 * Queues a read.
 *
 * @param {Connection} connection
 * @param {Uint8Array | import('./pool.js').Pool} buffer
 * @param {number} size its size
 * @param {Function} callback
 */
function read(connection, buffer, size, callback) {
  const request = acquire(READ, connection, callback, asyncContext.capture());
  request.data = buffer;
  request.buffer = buffer === pool ? null : buffer;
  request.left = size;
  if (connection.ended) {
    reactor.complete(request);
  } else if (connection._pipe !== null) {
    request.error = errors.inPipe();
    reactor.complete(request);
  } else if (!connection._lives()) {
    const failure = connection._readFailure;
    if (failure !== null) connection._failureHeard = true;
    request.error = failure ?? errors.socketClosed();
    // Behind those that are to be told of the close.
    if (connection._phase !== states.CLOSING) reactor.complete(request);
    else connection._reads.push(request);
  } else {
    if (connection._closesOnceDrained) {
      request.error = errors.socketClosed();
      request.data = NO_ROOM;
      request.left = 0;
    }
    clearTimeout(connection._linger);
    connection._hold();
    connection._reads.push(request);
    if (connection._phase === states.OPEN && (connection._ready || request.left === 0)) {
      reactor.list(connection);
    }
  }
}

/**
 * Takes a read back that has not been served. Then its callback does not run.
 *
 * @param {Connection} connection
 * @param {Function} callback its callback, which is of no other read
 * @returns {boolean} whether it could be
 */
function withdraw(connection, callback) {
  const request = connection._reads.find(callback);
  // One with an error is about to be told.
  if (request === null || request.error !== null) return false;
  connection._reads.remove(request);
  connection._letGo();
  release(request);
  if (connection._phase === states.OPEN) goOn(connection);
  return true;
}

/**
 * Hot: one recv into the buffer of the first read, and its callback at once after it.
 *
 * @param {Connection} connection which is open and has a read queued
 */
function receive(connection) {
  const request = /** @type {Request} */ (connection._reads.head);
  const isPooled = request.data === pool;
  const size = isPooled ? pool.bufferSize : sizeOf(request.data);
  if (size === 0) {
    receiveNothing(connection);
    return;
  }
  if (!connection._ready) return;
  const buffer = isPooled ? pool.take() : request.data;
  const count = reactor.open().recv(connection._nativeId, buffer);
  if (count > 0) {
    connection._bytesRead += count;
    if (connection._idle !== null) idle.refresh(connection);
    // After a short read the kernel has no more and will tell when it has. After a hang-up it tells
    // nothing any more.
    if (count < size && count < native.MAX_RECV && !connection._hungUp) connection._ready = false;
    const { callback, context, buffer: given } = request;
    takeRead(connection);
    release(request);
    const filled = isPooled ? buffer : given;
    asyncContext.callback3(context, /** @type {Function} */ (callback), null, filled, count);
    return;
  }
  if (isPooled) pool.putBack(buffer);
  if (count === native.BUFFER_GONE) {
    fail(connection, errors.bufferGone());
  } else if (count === native.EAGAIN && connection._failure === null) {
    connection._ready = false;
  } else {
    endReading(connection, count);
  }
}

/**
 * The kernel has no more bytes: the peer has ended its side, or there is no connection any more.
 *
 * @param {Connection} connection
 * @param {number} code 0 or an error
 */
function endReading(connection, code) {
  // After a failure the kernel says that this is the end; it is not.
  if (code === 0 && connection._failure === null) {
    peerEnded(connection);
    return;
  }
  const isOwn = code < 0 && code !== native.EAGAIN;
  const error = isOwn ? errors.system(code, 'read') : connection._readFailure;
  const request = connection._reads.shift();
  connection._failureHeard = true;
  closing.teardown(connection, error);
  tell(request, error);
}

/**
 * Tells a read that it failed, at once: a later one must not be told before.
 *
 * @param {Request} request
 * @param {Error | null} error
 */
function tell(request, error) {
  const { callback, context, buffer } = request;
  release(request);
  asyncContext.callback3(context, /** @type {Function} */ (callback), error, buffer, 0);
}

/**
 * Takes the first read from its queue. If there is another, it is for the next round: one recv a
 * turn, so that no connection starves the others.
 *
 * @param {Connection} connection
 */
function takeRead(connection) {
  const request = connection._reads.shift();
  connection._letGo();
  goOn(connection);
  return request;
}

/**
 * A read has left the queue, and what comes next has its turn.
 *
 * @param {Connection} connection
 */
function goOn(connection) {
  const next = connection._reads.head;
  // Without another read there may still be an end to notice.
  const goesOn = next === null ? connection._hungUp : connection._ready || next.left === 0;
  if (goesOn) reactor.list(connection);
}

/**
 * The first read fails, and the connection goes on.
 *
 * @param {Connection} connection
 * @param {Error} error
 */
function fail(connection, error) {
  tell(takeRead(connection), error);
}

/**
 * The first read has no room: that says nothing about the connection, unless it is at its end. Or
 * it was refused, and those before it were told.
 *
 * @param {Connection} connection
 */
function receiveNothing(connection) {
  const { left, error } = /** @type {Request} */ (connection._reads.head);
  if (error !== null) {
    fail(connection, error);
    return;
  }
  if (left > 0) {
    fail(connection, errors.bufferGone());
    return;
  }
  const atEnd = reactor.open().atEnd(connection._nativeId);
  if (atEnd === 0) fail(connection, errors.emptyRead());
  else endReading(connection, atEnd === 1 ? 0 : atEnd);
}

/**
 * The peer has ended its side: every read is told.
 *
 * @param {Connection} connection
 */
function peerEnded(connection) {
  connection.readable = false;
  connection.ended = true;
  for (let read = connection._reads.head; read !== null; read = read.next) connection._letGo();
  reactor.completeAll(connection._reads);
  closing.step(connection, states.PEER_END, null);
}

/**
 * Our side is ended and nobody reads: the peer's end is noticed all the same, unless there are
 * bytes before it.
 *
 * @param {Connection} connection
 */
function endUnread(connection) {
  const { finished, ended, _hungUp: hungUp, _phase: state } = connection;
  if (!finished || !hungUp || ended || state !== states.OPEN) return;
  if (connection._reads.head !== null) return;
  const atEnd = reactor.open().atEnd(connection._nativeId);
  if (atEnd === 1) {
    peerEnded(connection);
  } else if (atEnd < 0) {
    closing.teardown(connection, null);
  } else if (!connection.allowHalfOpen) {
    clearTimeout(connection._linger);
    connection._linger = setTimeout(() => closing.teardown(connection, null), LINGER);
    connection._linger.unref();
  }
}

module.exports = { endUnread, read, receive, withdraw };
