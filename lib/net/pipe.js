'use strict';

// A pipe: two connections, or one that is its own peer, in the hands of the native half until both
// ways have ended. It begins when both are connected and what was written to them before has left.

const errors = require('../errors.js');
const asyncContext = require('./async-context.js');
const closing = require('./closing.js');
const reactor = require('./reactor.js');
const states = require('./states.js');
const { Abortion } = require('./lifetime.js');
const { PIPE, acquire } = require('./request.js');

/** @typedef {import('./connection.js')} Connection */
/** @typedef {import('../native.js').PipeState} PipeState */
/** @typedef {ReturnType<typeof import('./options.js').pipeSettings>} Settings */
/** @typedef {(error: Error | null, result: import('../../index.js').PipeResult) => void} Callback */

/** How far a pipe is that has not begun. @type {PipeState} */
const NOTHING = {
  forward: { bytes: 0, ended: false },
  backward: { bytes: 0, ended: false },
  idle: Infinity,
};

class Pipe {
  /**
   * @param {Connection} source
   * @param {Connection} target
   * @param {boolean} splice
   * @param {Callback} callback
   */
  constructor(source, target, splice, callback) {
    this._source = source;
    this._target = target;
    this._splice = splice;
    this._callback = callback;
    this._context = asyncContext.capture();
    this._running = false;
    /** @type {Abortion | null} */
    this._abortion = null;
    for (const connection of this._both()) {
      connection._pipe = this;
      connection.readable = connection.writable = false;
      if (connection._phase === states.OPEN) connection._phase = states.PIPED;
    }
    source._hold();
  }

  /** @param {Abortion | null} abortion */
  begin(abortion) {
    this._abortion = abortion;
    abortion?.begin();
    if (this._source._pipe === this) this.advance();
  }

  /** Begins to move bytes, if nothing is in the way any more. */
  advance() {
    const both = this._both();
    if (this._running || !both.every(isClear)) return;
    this._running = true;
    for (const connection of both) {
      // Afterwards the native half does not know them any more.
      connection._addressOf(false);
      connection._addressOf(true);
    }
    const second = both.length === 1 ? -1 : this._target._nativeId;
    const result = reactor.open().pipe(this._source._nativeId, second, this._splice);
    if (result < 0) this.stop(errors.system(result, 'pipe'));
  }

  /**
   * How many bytes came from a connection so far.
   *
   * @param {Connection} connection
   */
  bytesFrom(connection, { forward, backward } = this._state()) {
    return connection === this._source ? forward.bytes : backward.bytes;
  }

  /**
   * How many bytes went to a connection so far.
   *
   * @param {Connection} connection
   */
  bytesTo(connection, { forward, backward } = this._state()) {
    return connection === this._target ? forward.bytes : backward.bytes;
  }

  /** How much has moved in all, and for how long nothing has, in milliseconds. */
  traffic() {
    const { forward, backward, idle } = this._state();
    return { moved: forward.bytes + backward.bytes, idle };
  }

  /** The native half has come to an end by itself. */
  onend() {
    const { forward, backward } = this._state();
    const back = this._source === this._target ? forward : backward;
    this._leave(null);
    close(this._source, forward.ended, back.ended);
    if (this._target !== this._source) close(this._target, back.ended, forward.ended);
  }

  /**
   * It is given up, and its connections with it.
   *
   * @param {Error} error
   * @param {Connection | null} [cause] one that closes for a reason of its own
   */
  stop(error, cause = null) {
    this._leave(error);
    // A reset of one is one of both.
    if (cause?._resets) this._source._resets = this._target._resets = true;
    for (const connection of this._both()) {
      connection._failureHeard = true;
      if (connection !== cause) closing.teardown(connection, error);
    }
  }

  /** Gives the connections back and tells how far it came. @param {Error | null} error */
  _leave(error) {
    const state = this._state(); // Once: it may still be running.
    const { forward, backward, failedBackward = false, syscall = '', code } = state;
    const failure = code === undefined ? null : errors.system(code, syscall);
    const result = {
      forward: { ...forward, error: failedBackward ? null : failure },
      backward: { ...backward, error: failedBackward ? failure : null },
    };
    this._abortion?.forget();
    for (const connection of this._both()) {
      connection._bytesRead += this.bytesFrom(connection, state);
      connection._bytesSent += this.bytesTo(connection, state);
      connection._pipe = null;
    }
    this._source._letGo();
    const request = acquire(PIPE, this._source, this._callback, this._context);
    request.error = error;
    request.buffer = result;
    // For who awaits it. A program's own error may refuse it, or be no object.
    try {
      /** @type {any} */ (error).result = result;
    } catch {}
    reactor.complete(request);
  }

  /** @returns {PipeState} */
  _state() {
    if (!this._running) return NOTHING;
    return reactor.open().pipeState(this._source._nativeId) ?? NOTHING;
  }

  /** Its connections, each once. */
  _both() {
    return this._source === this._target ? [this._source] : [this._source, this._target];
  }
}

/**
 * A connection closes with the pipe that it was in.
 *
 * @param {Connection} connection
 * @param {boolean} ended whether its peer's side has ended
 * @param {boolean} finished whether ours has
 */
function close(connection, ended, finished) {
  // Who had read the end before has heard of it.
  if (ended && !connection.ended) closing.step(connection, states.END_EVENT, null);
  if (finished) closing.step(connection, states.FINISH_EVENT, null);
  connection.ended ||= ended;
  connection.finished = finished;
  closing.teardown(connection, null);
}

/**
 * Whether a connection stands and nothing waits to be sent.
 *
 * @param {Connection} connection
 */
function isClear(connection) {
  return (
    connection._phase === states.PIPED &&
    connection._writes.head === null &&
    !connection._closesOnceDrained &&
    !connection._resets
  );
}

/**
 * Why a connection can't be piped, or null.
 *
 * @param {Connection} connection
 */
function whyNot(connection) {
  if (connection._failure !== null) return connection._failure;
  if (connection._pipe !== null) return errors.inPipe();
  if (connection._reads.head !== null) return errors.readPending();
  if (connection._ending) return errors.writeAfterEnd();
  return connection._lives() && !connection._closesOnceDrained ? null : errors.socketClosed();
}

/**
 * Begins a pipe, or says in its callback why not.
 *
 * @param {Connection} source
 * @param {Connection} target
 * @param {Settings} settings
 * @param {Callback} callback
 */
function pipe(source, target, settings, callback) {
  /** @type {Pipe | null} */
  let begun = null;
  const abortion = Abortion.on(settings.signal, (error) => begun?.stop(error));
  const reason = whyNot(source) ?? whyNot(target);
  if (reason !== null) {
    abortion?.forget();
    const request = acquire(PIPE, source, callback, asyncContext.capture());
    request.error = reason;
    request.buffer = undefined;
    reactor.complete(request);
    return;
  }
  begun = new Pipe(source, target, settings.splice, callback);
  begun.begin(abortion);
}

module.exports = { Pipe, pipe };
