'use strict';

// Writes: at once, staged, or waiting for room in the kernel.

const { isUint8Array } = require('util/types');
const native = require('../native.js');
const errors = require('../errors.js');
const asyncContext = require('./async-context.js');
const { part, sizeOf } = require('./bytes.js');
const closing = require('./closing.js');
const idle = require('./idle.js');
const reactor = require('./reactor.js');
const stage = require('./stage.js');
const { pool } = require('./pool.js');
const states = require('./states.js');
const { WRITE, acquire, release } = require('./request.js');

/** @typedef {import('./connection.js')} Connection */
/** @typedef {import('./request.js').Request} Request */

const { SMALL } = stage;

/** How many bytes may wait before one should stop to write: that of streams in Node 22. */
const HIGH_WATER_MARK = 64 * 1024;

/**
 * Hot: writes `count` bytes of `data`.
 *
 * @param {Connection} connection
 * @param {Uint8Array} data
 * @param {number} count
 * @param {unknown} given what the callback gets back
 * @param {number | number[]} told and what length it is told
 * @param {Function | null} callback
 * @returns {boolean} whether one may write on
 */
function write(connection, data, count, given, told, callback) {
  if (connection._idle !== null) idle.refresh(connection);
  if (count > 0 && isClear(connection)) {
    const isStaged = count <= SMALL && !goesAtOnce(connection);
    if (isStaged && stage.accepts(connection, count)) {
      addToStage(connection, data, count, given, told, callback);
      return true;
    }
    // What is staged leaves before what goes at once, and where there is no room for more.
    if (isStaged || stage.belongsTo(connection)) flush();
    if (isClear(connection)) {
      if (isStaged) addToStage(connection, data, count, given, told, callback);
      else send(connection, data, count, given, told, callback);
      return !connection._needsDrain;
    }
  }
  return writeLater(connection, makeRequest(connection, data, count, given, told, callback));
}

/**
 * Hot: a further small write of a turn. It is added to the stage, if there is nothing else to do.
 *
 * @param {Connection} connection
 * @param {unknown} data
 * @param {unknown} count
 * @returns {boolean} whether that was so
 */
function writeMore(connection, data, count) {
  if (!stage.isOf(connection) || !isClear(connection) || connection._idle !== null) return false;
  if (!isUint8Array(data)) return false;
  const size = sizeOf(data);
  if (count === undefined) count = size;
  if (typeof count !== 'number' || !(count > 0 && count <= SMALL && stage.hasRoom(count)))
    return false;
  if (count !== size && !(count < size && Number.isInteger(count))) return false;
  stage.append(count === size ? data : part(data, 0, count), count);
  connection._writeCount = 2; // At least.
  return true;
}

/**
 * Writes parts of several buffers, one behind the other.
 *
 * @param {Connection} connection
 * @param {{ buffers: Uint8Array[], lengths: number[], total: number }} parts in arrays of our own
 * @param {unknown} given
 * @param {number[]} told
 * @param {Function | null} callback
 * @returns {boolean} as write
 */
function writev(connection, parts, given, told, callback) {
  const { buffers, lengths, total } = parts;
  if (total <= SMALL) {
    return write(connection, stage.join(buffers, lengths, total), total, given, told, callback);
  }
  if (connection._idle !== null) idle.refresh(connection);
  flushOwn(connection);
  const request = makeRequest(connection, buffers, total, given, told, callback);
  request.lengths = lengths;
  const clear = isClear(connection);
  const mayGoOn = writeLater(connection, request);
  if (clear) drain(connection);
  return mayGoOn && !connection._needsDrain;
}

/**
 * A write whose memory was taken away before it: it fails in its turn.
 *
 * @param {Connection} connection
 * @param {unknown} given
 * @param {number | number[]} told
 * @param {Function | null} callback
 * @returns {boolean} as write
 */
function writeGone(connection, given, told, callback) {
  const request = makeRequest(connection, null, 0, given, told, callback);
  request.error = errors.bufferGone();
  if (callback === null && whyRefused(connection) === null) {
    closing.step(connection, states.UNHEARD_ERROR, request.error);
  }
  return writeLater(connection, request);
}

/**
 * Whether a write may go out now: connected, not ended, and nothing waits.
 *
 * @param {Connection} connection
 */
function isClear(connection) {
  return (
    connection._phase === states.OPEN &&
    connection._writes.head === null &&
    !connection._ending &&
    connection._failure === null
  );
}

/**
 * Whether a small write leaves at once: the first of a turn, unless there were several in the last
 * turn in which the connection wrote.
 *
 * @param {Connection} connection
 */
function goesAtOnce(connection) {
  const turn = reactor.currentTurn();
  if (connection._writeTurn === turn) {
    connection._writeCount++;
  } else {
    connection._writesOften = connection._writeCount > 1;
    connection._writeTurn = turn;
    connection._writeCount = 1;
  }
  return (connection._writeCount === 1 && !connection._writesOften) || reactor.isLastTurn();
}

/**
 * @param {Connection} connection
 * @param {any} data
 * @param {number} left
 * @param {unknown} given
 * @param {number | number[]} told
 * @param {Function | null} callback
 */
function makeRequest(connection, data, left, given, told, callback) {
  const context = callback === null ? null : asyncContext.capture();
  const request = acquire(WRITE, connection, callback, context);
  request.buffer = given;
  request.length = told;
  request.data = data;
  request.total = request.left = left;
  return request;
}

/**
 * Queues a write, completes it where it is empty, or refuses it.
 *
 * @param {Connection} connection
 * @param {Request} request
 * @returns {boolean} whether one may write on
 */
function writeLater(connection, request) {
  const refusal = whyRefused(connection);
  if (refusal !== null) {
    refuse(connection, request, refusal);
    return false;
  }
  if (request.left > 0 || !isClear(connection)) {
    wait(connection, request);
  } else if (stage.belongsTo(connection)) {
    request.start = stage.length();
    stage.requests.push(request);
  } else {
    reactor.complete(request);
  }
  return !connection._needsDrain;
}

/**
 * A write waits behind all others.
 *
 * @param {Connection} connection
 * @param {Request} request
 */
function wait(connection, request) {
  connection._hold();
  connection._writes.push(request);
  connection._bytesWaiting += request.left;
  if (connection._bytesWaiting >= HIGH_WATER_MARK) connection._needsDrain = true;
}

/**
 * Why a write is not accepted any more, or null.
 *
 * @param {Connection} connection
 */
function whyRefused(connection) {
  if (connection._failure !== null) return connection._failure;
  if (connection._pipe !== null) return errors.inPipe();
  if (connection._phase > states.OPEN || connection._closesOnceDrained) {
    return errors.streamDestroyed('write');
  }
  if (!connection._lives()) return errors.socketClosed();
  return connection._ending ? errors.writeAfterEnd() : null;
}

/**
 * A refused write is told in its turn.
 *
 * @param {Connection} connection
 * @param {Request} request
 * @param {Error} error
 */
function refuse(connection, request, error) {
  request.error = error;
  request.left = 0;
  if (request.callback !== null && error === connection._failure) connection._failureHeard = true;
  // The failure of a connection is told once, as it closes.
  const isOwn = connection._failure === null && connection._phase < states.CLOSING;
  if (request.callback === null && isOwn) closing.step(connection, states.UNHEARD_ERROR, error);
  if (connection._phase <= states.PIPED && connection._writes.head !== null) {
    connection._hold();
    connection._writes.push(request);
  } else {
    reactor.complete(request);
  }
}

/**
 * @param {Connection} connection
 * @param {Uint8Array} data
 * @param {number} count
 * @param {unknown} given
 * @param {number | number[]} told
 * @param {Function | null} callback
 */
function addToStage(connection, data, count, given, told, callback) {
  // First, since it may fail near the end of the stack: what is staged has its round.
  reactor.schedule(connection);
  stage.add(connection, data, 0, count);
  if (callback === null) return;
  const request = makeRequest(connection, data, 0, given, told, callback);
  request.total = count;
  request.start = stage.length(); // Where its bytes end in the stage.
  stage.requests.push(request);
}

/**
 * @param {Connection} connection
 * @param {Uint8Array} data
 * @param {number} count
 * @param {unknown} given
 * @param {number | number[]} told
 * @param {Function | null} callback
 */
function send(connection, data, count, given, told, callback) {
  const sent = reactor.open().send(connection._nativeId, data, 0, count);
  if (sent === count) {
    connection._bytesSent += count;
    if (callback === null) reactor.wake();
    else reactor.complete(makeRequest(connection, data, 0, given, told, callback));
    return;
  }
  const request = makeRequest(connection, data, count, given, told, callback);
  wait(connection, request);
  afterSend(connection, request, sent);
}

/**
 * Sends what is staged, if it is of this connection.
 *
 * @param {Connection} connection
 */
function flushOwn(connection) {
  if (stage.belongsTo(connection)) flush();
}

/** Sends what is staged, whoever staged it. */
function flush() {
  const connection = stage.currentOwner();
  if (connection === null) return;
  const { length, sent } = stage.send();
  if (sent > 0) connection._bytesSent += sent;
  if (sent === length) {
    reactor.completeAll(stage.requests);
    return;
  }
  keepRest(connection, Math.max(sent, 0), length);
  if (sent < 0) afterSend(connection, /** @type {Request} */ (connection._writes.head), sent);
}

/**
 * The kernel has not taken all that was staged. The rest is copied and waits, each request with its
 * part; those whose bytes were taken are done.
 *
 * @param {Connection} connection
 * @param {number} sent
 * @param {number} length
 */
function keepRest(connection, sent, length) {
  const rest = stage.copy(sent, length);
  const { requests } = stage;
  let at = sent;
  while (requests.head !== null) {
    const request = requests.shift();
    const end = request.start;
    request.start = 0;
    if (end <= sent && connection._writes.head === null) {
      reactor.complete(request);
      continue;
    }
    request.data = rest.subarray(at - sent, Math.max(at, end) - sent);
    request.left = request.data.length;
    at = Math.max(at, end);
    wait(connection, request);
  }
  if (at === length) return;
  // Nobody waits to be told of the last ones.
  const last = acquire(WRITE, connection, null, null);
  last.data = rest.subarray(at - sent);
  last.left = last.data.length;
  wait(connection, last);
}

/**
 * The kernel was asked to send what is left of the first waiting write.
 *
 * @param {Connection} connection
 * @param {Request} request
 * @param {number} sent how many bytes it took, or an error
 * @returns {boolean} whether it may take more
 */
function afterSend(connection, request, sent) {
  if (sent >= 0) {
    advance(connection, request, sent);
    return true;
  }
  if (sent === native.EAGAIN) return false;
  if (sent === native.BUFFER_GONE && request.start === 0 && request.index === 0) {
    // Nothing of it was sent, so the rest of the stream is whole.
    connection._writes.shift();
    connection._letGo();
    connection._bytesWaiting -= request.left;
    request.error = errors.bufferGone();
    if (request.callback === null) closing.step(connection, states.UNHEARD_ERROR, request.error);
    reactor.complete(request);
    return true;
  }
  if (sent === native.BUFFER_GONE) {
    // Half a message must not look like all of it.
    connection._resets = true;
    closing.teardown(connection, errors.bufferGone());
  } else {
    closing.fail(connection, errors.system(sent, 'write'));
  }
  return false;
}

/**
 * @param {Connection} connection
 * @param {Request} request
 * @param {number} sent
 */
function advance(connection, request, sent) {
  connection._bytesSent += sent;
  connection._bytesWaiting -= sent;
  if (connection._idle !== null) idle.refresh(connection);
  request.left -= sent;
  request.start += sent;
  if (request.lengths === null) return;
  while (request.left > 0 && request.start >= request.lengths[request.index]) {
    request.start -= request.lengths[request.index++];
  }
}

/**
 * Takes a write back that waits. Then its callback does not run. If some of it has left, half of it
 * must not look like all: the connection is reset, and its callback told so.
 *
 * @param {Connection} connection
 * @param {Function} callback its callback, which is of no other write
 * @returns {boolean} whether it could be
 */
function withdraw(connection, callback) {
  const request = connection._writes.find(callback);
  if (request === null || request.error !== null) return false;
  const { left, total } = request;
  if (left < total) {
    connection._resets = true;
    closing.teardown(connection, null);
    return true;
  }
  connection._bytesWaiting -= total;
  if (left > total) {
    // In front of it are bytes that nobody waits to be told of: they stay.
    request.total = request.left = left - total;
    request.callback = request.context = null;
    return true;
  }
  connection._writes.remove(request);
  connection._letGo();
  if (request.releases !== null) pool.putBack(request.releases);
  release(request);
  // It may have been all that was waited for.
  if (connection._writes.head === null) {
    if (connection._phase === states.OPEN) drain(connection);
    else connection._pipe?.advance();
  }
  return true;
}

/**
 * There may be room: sends what waits, in order.
 *
 * @param {Connection} connection
 */
function drain(connection) {
  let room = true;
  while (room && connection._writes.head !== null) {
    const request = connection._writes.head;
    if (request.left === 0) {
      connection._writes.shift();
      connection._letGo();
      reactor.complete(request);
    } else if (isSmall(request) && request.next !== null && isSmall(request.next)) {
      room = drainSmall(connection);
    } else {
      room = afterSend(connection, request, sendWaiting(connection, request));
    }
  }
  if (connection._needsDrain && connection._writes.head === null) {
    connection._needsDrain = false;
    closing.step(connection, states.DRAIN, null);
  }
  if (connection._pipe !== null) connection._pipe.advance();
  shutdownIfDrained(connection);
  if (connection._closesOnceDrained && connection._writes.head === null) connection.close();
}

/**
 * @param {Connection} connection
 * @param {Request} request
 */
function sendWaiting(connection, request) {
  const { data, start, left } = request;
  const { send, sendv } = reactor.open();
  if (request.lengths === null) return send(connection._nativeId, data, start, start + left);
  return sendv(connection._nativeId, data, request.lengths, request.index, start);
}

/** @param {Request} request */
function isSmall(request) {
  return request.lengths === null && request.left > 0 && request.left <= SMALL;
}

/**
 * Sends the small ones that wait in front, as many as the stage has room for, in one call.
 *
 * @param {Connection} connection
 * @returns {boolean} whether the kernel may take more
 */
function drainSmall(connection) {
  flush();
  let request = connection._writes.head;
  while (request !== null && isSmall(request) && stage.hasRoom(request.left)) {
    const end = request.start + request.left;
    if (sizeOf(request.data) < end) break; // It was detached or shrunk; it is sent alone, to fail.
    stage.add(connection, request.data, request.start, request.left);
    request = request.next;
  }
  const head = /** @type {Request} */ (connection._writes.head);
  if (stage.currentOwner() === null) {
    return afterSend(connection, head, sendWaiting(connection, head));
  }
  let { sent } = stage.send();
  if (sent < 0) return afterSend(connection, head, sent);
  for (request = head; request !== null && sent > 0; request = request.next) {
    const count = Math.min(sent, request.left);
    advance(connection, request, count);
    sent -= count;
  }
  return true;
}

/**
 * Ends our side if that is wanted and nothing waits.
 *
 * @param {Connection} connection
 */
function shutdownIfDrained(connection) {
  if (!connection._ending || connection._shut || connection._phase !== states.OPEN) return;
  if (connection._failure !== null) return;
  flushOwn(connection);
  // It may have failed by that.
  if (connection._shut || connection._phase !== states.OPEN) return;
  if (connection._writes.head !== null) return;
  connection._shut = true;
  connection._letGo();
  const result = reactor.open().shutdown(connection._nativeId);
  closing.step(connection, states.FINISH, result < 0 ? errors.ofShutdown(result) : null);
}

/**
 * The buffer of the latest write goes back to the pool: now, where its bytes are out of it.
 *
 * @param {Connection} connection
 * @param {Uint8Array} data
 */
function releaseOnceSent(connection, data) {
  pool.giveUp(data);
  // If any write waits, this one is the last of them, and earlier ones may be of the same buffer.
  const last = connection._writes.tail;
  if (last !== null && last.buffer === data) last.releases = data;
  else pool.putBack(data);
}

/**
 * How many bytes of a connection are staged.
 *
 * @param {Connection} connection
 */
function stagedLength(connection) {
  return stage.belongsTo(connection) ? stage.length() : 0;
}

reactor.onFlush(flush);

module.exports = {
  HIGH_WATER_MARK,
  drain,
  flushOwn,
  releaseOnceSent,
  shutdownIfDrained,
  stagedLength,
  whyRefused,
  withdraw,
  write,
  writeGone,
  writeMore,
  writev,
};
