'use strict';

const { inspect } = require('util');
const asyncContext = require('./async-context.js');
const closing = require('./closing.js');
const errors = require('../errors.js');
const Connecting = require('./connecting.js');
const Handle = require('./handle.js');
const idle = require('./idle.js');
const options = require('./options.js');
const reactor = require('./reactor.js');
const reading = require('./reading.js');
const StackCheck = require('./stack.js');
const states = require('./states.js');
const { pool } = require('./pool.js');
const validate = require('./validate.js');
const { isGone } = require('./bytes.js');
const writing = require('./writing.js');
const { pipe } = require('./pipe.js');
const { Abortion, closeOf } = require('./lifetime.js');
const { CLOSE, END, Queue, acquire } = require('./request.js');

const { HANGUP, PIPE_ENDED, READABLE, WRITABLE } = reactor;

const stack = {
  connect: new StackCheck(),
  end: new StackCheck(),
  close: new StackCheck(),
  destroy: new StackCheck(),
};

/** What can be written. */
const DATA = 'of type string or an instance of Buffer or Uint8Array';

/**
 * A TCP connection that reads into buffers and writes from buffers of the caller.
 *
 * A buffer is lent from the call until its callback. The native half looks up its place at each
 * system call and keeps it nowhere.
 */
class Connection extends Handle {
  /** @param {import('./server.js') | null} [server] the server that accepted it */
  constructor(server = null) {
    super();
    if (server !== null && typeof server?._removeConnection !== 'function') {
      throw errors.invalidArgType('server', 'an instance of Server', server);
    }
    this.closed = false;
    this.finished = false;
    this.ended = false;
    this.allowHalfOpen = server !== null && server.allowHalfOpen;
    this.writable = false;
    this.readable = false;
    /** After how many milliseconds without traffic `timeout` is emitted; 0 is never. */
    this.timeout = 0;

    /** Itself, where a program holds it behind a Proxy. */
    this._self = this;
    this._phase = states.CONNECTING;
    this._server = server;
    /** Its place in server.connections. */
    this._index = 0;
    /** @type {Connecting | null} */
    this._connecting = null;
    if (server !== null) this._asyncContext = server._asyncContext;
    this._noDelay = server === null || server._settings.noDelay;
    /** In seconds; see NativeReactor. */
    this._keepAlive = server === null ? -1 : server._settings.keepAlive;
    /** @type {NodeJS.Timeout | null} */
    this._idle = null;
    /** @type {Abortion | null} */
    this._abortion = null;

    /** @type {import('./pipe.js').Pipe | null} */
    this._pipe = null;

    /** Whether reads wait for resume(). */
    this._paused = false;
    this._bytesRead = 0;
    /** How many bytes the kernel has taken, and how many wait for it. */
    this._bytesSent = 0;
    this._bytesWaiting = 0;
    /** Whether so many wait that the event `drain` will tell when none do. */
    this._needsDrain = false;

    /** Whether there may be something to receive. */
    this._ready = false;
    /** Whether the kernel has told that the peer's side, or all, is over; it tells it once. */
    this._hungUp = false;
    this._reads = new Queue();

    /** Writes that wait for the connection, or for room in the kernel. */
    this._writes = new Queue();
    this._ends = new Queue();
    this._ending = false;
    /** Whether our side was ended, or can't be any more. */
    this._shut = false;
    /** Why there is no connection any more, though bytes that came before may still be read. */
    /** @type {Error | null} */
    this._failure = null;
    /** What reads are told of it: that a write has met it is no news for them. */
    /** @type {Error | null} */
    this._readFailure = null;
    this._failureHeard = false;
    /** The last turn with a small write, how many there were, and whether in the one before. */
    this._writeTurn = -1;
    this._writeCount = 0;
    this._writesOften = false;

    this._closes = new Queue();
    /** Whether it closes as soon as it is connected and what was written has left. */
    this._closesOnceDrained = false;
    /** Runs out when nobody reads what came before the peer's end. */
    /** @type {NodeJS.Timeout | undefined} */
    this._linger = undefined;

    /** @type {import('../../index.js').AddressInfo | undefined} */
    this._local = undefined;
    /** @type {import('../../index.js').AddressInfo | undefined} */
    this._remote = undefined;
  }

  /** Whether it is not connected yet, and may still be. */
  get connecting() {
    return this._phase === states.CONNECTING && this._connecting !== null;
  }

  /** Whether it was given up: nothing is sent or received any more. */
  get destroyed() {
    return this._phase >= states.CLOSING;
  }

  /** How many bytes were received. */
  get bytesRead() {
    return this._bytesRead + (this._pipe?.bytesFrom(this._self) ?? 0);
  }

  /** How many bytes were written, those that wait among them. */
  get bytesWritten() {
    return this._bytesSent + this.writableLength + (this._pipe?.bytesTo(this._self) ?? 0);
  }

  /** How many written bytes the kernel has not taken yet. */
  get writableLength() {
    return this._bytesWaiting + writing.stagedLength(this);
  }

  /** How many bytes may wait before writableNeedDrain is set. */
  get writableHighWaterMark() {
    return writing.HIGH_WATER_MARK;
  }

  /** Whether so many bytes wait that one should not write more before the event `drain`. */
  get writableNeedDrain() {
    return this._needsDrain && (this.writable || this.connecting) && !this._ending;
  }

  get localAddress() {
    return this._addressOf(false)?.address;
  }

  get localFamily() {
    return this._addressOf(false)?.family;
  }

  get localPort() {
    return this._addressOf(false)?.port;
  }

  get remoteAddress() {
    return this._addressOf(true)?.address;
  }

  get remoteFamily() {
    return this._addressOf(true)?.family;
  }

  get remotePort() {
    return this._addressOf(true)?.port;
  }

  /**
   * Where it is at this end; an empty object while that is not known.
   *
   * @returns {import('../../index.js').AddressInfo | {}}
   */
  address() {
    return { ...this._addressOf(false) };
  }

  /**
   * Reads what has arrived into `buffer`, or into one of the pool: at least one byte, or 0 at the
   * end.
   *
   * @param {any} buffer
   * @param {(error: Error | null, buffer: any, bytesRead: number) => void} callback
   */
  read(buffer, callback) {
    const size = buffer === pool ? pool.bufferSize : validate.buffer('buffer', buffer);
    validate.callback(callback);
    reading.read(this, buffer, size, callback);
  }

  /**
   * Writes the first `length` bytes of `data`, by default all of them, or a string.
   *
   * @param {Uint8Array | string} data
   * @param {any} [length] a number of bytes; for a string its encoding
   * @param {any} [given] options
   * @param {any} [callback]
   * @returns {boolean} whether one may write on: false where the event `drain` should be awaited
   */
  write(data, length, given, callback) {
    if (given === undefined && callback === undefined && writing.writeMore(this, data, length)) {
      return true;
    }
    if (typeof length === 'function') [length, callback] = [undefined, length];
    else if (typeof given === 'function') [given, callback] = [undefined, given];
    const done = validate.optionalCallback(callback);
    const releases = given !== undefined && given !== null && validate.release(given, data);
    if (typeof data === 'string') {
      const bytes = Buffer.from(data, validate.encoding(length));
      return writing.write(this, bytes, bytes.length, data, bytes.length, done);
    }
    const size = validate.buffer('data', data, DATA);
    let mayGoOn;
    if (size === 0 && isGone(data)) {
      mayGoOn = writing.writeGone(this, data, 0, done);
    } else {
      if (typeof length === 'number' || releases) validate.length('length', length, size);
      else length = validate.noLength(length, size);
      mayGoOn = writing.write(this, data, length, data, length, done);
    }
    if (releases) writing.releaseOnceSent(this, data);
    return mayGoOn;
  }

  /**
   * Writes the first `lengths[i]` bytes, by default all, of each of `buffers`, one behind the
   * other.
   *
   * @param {Uint8Array[]} buffers
   * @param {any} [lengths]
   * @param {any} [callback]
   * @returns {boolean} as write
   */
  writev(buffers, lengths, callback) {
    if (typeof lengths === 'function') {
      callback = lengths;
      lengths = undefined;
    }
    const done = validate.optionalCallback(callback);
    const own = validate.slices(buffers, lengths);
    if (own.gone) return writing.writeGone(this, buffers, lengths ?? own.lengths, done);
    return writing.writev(this, own, buffers, lengths ?? own.lengths, done);
  }

  /**
   * Ends our side, as soon as all that was written has left, `data` as the last.
   *
   * @param {any} [data] as for write; may be left out
   * @param {any} [encoding] of a string; may be left out
   * @param {any} [callback]
   * @returns {this}
   */
  end(data, encoding, callback) {
    if (typeof data === 'function') [data, callback] = [undefined, data];
    else if (typeof encoding === 'function') [encoding, callback] = [undefined, encoding];
    stack.end.pass();
    if (data !== undefined && data !== null) {
      const done = validate.optionalCallback(callback); // Before anything is written.
      /** What became of the last bytes, which the end is told. @type {Error | null} */
      let lost = writing.whyRefused(this);
      const note = (/** @type {Error | null} */ error) => (lost ??= error);
      this.write(data, encoding, done === null ? null : note);
      if (done !== null) callback = (/** @type {Error | null} */ error) => done(error ?? lost);
    }
    const request = this._makeRequest(END, callback);
    if (this._pipe !== null) {
      if (request === null) return this;
      request.error = errors.inPipe();
      reactor.complete(request);
      return this;
    }
    const isOver = this._failure !== null || !this._lives() || this._closesOnceDrained;
    if (isOver || this.finished) {
      if (request === null) return this;
      request.error = this.finished ? null : (this._failure ?? errors.socketClosed());
      if (request.error === this._failure) this._failureHeard = true;
      reactor.complete(request);
      return this;
    }
    if (request !== null) this._ends.push(request);
    if (this._ending) return this;
    this._ending = true;
    this.writable = false;
    this._hold();
    writing.shutdownIfDrained(this);
    return this;
  }

  /**
   * Closes the connection. What the kernel has taken still arrives; what is pending fails.
   *
   * @param {(() => void) | null} [callback]
   */
  close(callback) {
    stack.close.pass();
    const request = this._makeRequest(CLOSE, callback);
    if (request !== null) {
      if (this._phase === states.CLOSED) reactor.complete(request);
      else this._closes.push(request);
    }
    const isBefore = this.connecting && (this._writes.head !== null || this._ending);
    if (isBefore || (this._closesOnceDrained && this._writes.head !== null)) {
      // What was written before the connection stands leaves first.
      this._closesOnceDrained = true;
      return;
    }
    writing.flushOwn(this);
    closing.teardown(this, null);
  }

  /**
   * Closes the connection at once, even before it is connected.
   *
   * @param {Error | null} [error] what pending operations are told
   * @returns {this}
   */
  destroy(error = null) {
    stack.destroy.pass();
    writing.flushOwn(this);
    closing.teardown(this, error || null);
    return this;
  }

  /**
   * Closes the connection by a reset: bytes that have not arrived are lost, and the peer is told so.
   * One that is not connected yet is reset when it is.
   *
   * @returns {this}
   */
  resetAndDestroy() {
    if (this.destroyed) return this;
    this._resets = true;
    return this.connecting ? this : this.destroy();
  }

  /**
   * Emits `timeout` when nothing was sent or received for so long. It closes nothing by itself.
   *
   * @param {number} time in milliseconds; 0 switches it off
   * @param {(() => void) | null} [callback] a listener for the next `timeout`; with 0 it is removed
   * @returns {this}
   */
  setTimeout(time, callback) {
    const limit = validate.time('msecs', time);
    const listener = validate.optionalCallback(callback);
    if (listener !== null && limit === 0) this.removeListener('timeout', listener);
    else if (listener !== null) this.once('timeout', listener);
    idle.set(this, limit);
    return this;
  }

  /**
   * Whether small segments are sent at once.
   *
   * @param {boolean} [noDelay]
   * @returns {this}
   */
  setNoDelay(noDelay = true) {
    this._noDelay = Boolean(noDelay);
    if (this._nativeId >= 0) reactor.open().setNoDelay(this._nativeId, this._noDelay);
    return this;
  }

  /**
   * Whether an idle connection is probed, and after how long.
   *
   * @param {boolean} [enable]
   * @param {number} [initialDelay] in milliseconds, of which whole seconds count; 0 leaves it to the
   *   system
   * @returns {this}
   */
  setKeepAlive(enable = false, initialDelay = 0) {
    this._keepAlive = options.keepAlive(enable, initialDelay);
    if (this._nativeId >= 0) reactor.open().setKeepAlive(this._nativeId, this._keepAlive);
    return this;
  }

  /**
   * Reads wait, those that are queued too, until resume().
   *
   * @returns {this}
   */
  pause() {
    this._paused = true;
    return this;
  }

  /**
   * Reads go on.
   *
   * @returns {this}
   */
  resume() {
    if (!this._paused) return this;
    this._paused = false;
    if (this._phase === states.OPEN && this._reads.head !== null) reactor.list(this);
    return this;
  }

  /**
   * Moves all that comes from this connection to `target`, and back, without JavaScript, until both
   * ways have ended; then both are closed. Piped to itself it echoes.
   *
   * @param {Connection} target
   * @param {any} [given] options
   * @param {any} [callback]
   * @returns {Promise<import('../../index.js').PipeResult> | undefined} nothing with a callback
   */
  pipe(target, given, callback) {
    if (typeof given === 'function') [given, callback] = [undefined, given];
    if (!(target instanceof Connection)) {
      throw errors.invalidArgType('target', 'an instance of Connection', target);
    }
    const settings = options.pipeSettings(given);
    const done = validate.optionalCallback(callback);
    const [source, sink] = [this._self, target._self];
    writing.flushOwn(source);
    writing.flushOwn(sink);
    if (done !== null) {
      pipe(source, sink, settings, (error, result) => done(error, result));
      return undefined;
    }
    return new Promise((resolve, reject) => {
      pipe(source, sink, settings, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }

  /** Whether reads wait for resume(). */
  isPaused() {
    return this._paused;
  }

  /**
   * What console.log shows.
   *
   * @param {number} _depth
   * @param {import('util').InspectOptions} options
   */
  [inspect.custom](_depth, options) {
    const { finished, ended, bytesRead, bytesWritten } = this;
    const side = (/** @type {unknown} */ address, /** @type {unknown} */ port) =>
      address === undefined ? undefined : `${address} port ${port}`;
    const shown = {
      state: states.NAMES[this._phase],
      local: side(this.localAddress, this.localPort),
      remote: side(this.remoteAddress, this.remotePort),
      finished,
      ended,
      bytesRead,
      bytesWritten,
    };
    return `${this.constructor.name} ${inspect(shown, options)}`;
  }

  /** Closes the connection, if it is not closed yet, and waits until it is. */
  [Symbol.asyncDispose]() {
    return closeOf(this, () => this.destroy());
  }

  /** @param {import('./options.js').ConnectSettings} settings */
  _connect(settings) {
    stack.connect.pass();
    reactor.open(); // Where there are no sockets, it is said at once.
    this._abortion = Abortion.on(settings.signal, (error) => this.destroy(error));
    this.allowHalfOpen = settings.allowHalfOpen;
    this._noDelay = settings.noDelay;
    this._keepAlive = settings.keepAlive;
    this._asyncContext = asyncContext.capture();
    this._connecting = new Connecting(this, settings);
    // It may be given up before anything is tried.
    if (!this._abortion?.isEarly) this._connecting.start();
    if (settings.timeout > 0) idle.set(this, settings.timeout);
    this._abortion?.begin();
  }

  /**
   * A server has accepted it.
   *
   * @param {number} id
   */
  _accepted(id) {
    this._nativeId = id;
    this._phase = states.OPEN;
    this.readable = this.writable = true;
    reactor.register(id, this);
  }

  /** Whether it stands, or may still. One that was made by hand and not by connect() does not. */
  _lives() {
    return this._phase === states.OPEN || this.connecting;
  }

  /** @param {number} readiness */
  _onready(readiness) {
    if (this._pipe !== null && (readiness & PIPE_ENDED) !== 0) {
      this._pipe.onend();
      return;
    }
    if ((readiness & (READABLE | HANGUP)) !== 0) this._ready = true;
    if ((readiness & HANGUP) !== 0) this._hungUp = true;
    if (this._connecting !== null) {
      this._connecting.onready();
      return;
    }
    if ((readiness & (WRITABLE | HANGUP)) !== 0 && this._writes.head !== null) writing.drain(this);
    // After a failure reads go on in rounds alone, so that writes are told first.
    if (this._failure === null) this._proceed();
  }

  _proceed() {
    if (this._phase !== states.OPEN) return;
    if (this._reads.head !== null) {
      if (!this._paused) reading.receive(this);
    } else if (this._failure !== null) closing.teardown(this, this._failure, this._readFailure);
    else reading.endUnread(this);
  }

  /**
   * @param {number} step
   * @param {Error | null} error
   */
  _step(step, error) {
    switch (step) {
      case states.FINISH:
        this._finish(error);
        break;
      case states.PEER_END:
        if (this.finished) closing.teardown(this, null);
        else if (!this.allowHalfOpen) this.end();
        asyncContext.emit(this._asyncContext, this, 'end');
        break;
      case states.CONNECT_FAILED:
        closing.connectFailed(this, /** @type {Error} */ (error));
        break;
      case states.CONNECT_ERROR:
        // Whoever has closed it already need not listen any more.
        if (this._closesOnceDrained) closing.emitUnheard(this, /** @type {Error} */ (error));
        else asyncContext.emit(this._asyncContext, this, 'error', error);
        break;
      case states.UNHEARD_ERROR:
        closing.emitUnheard(this, /** @type {Error} */ (error));
        break;
      case states.END_EVENT:
        asyncContext.emit(this._asyncContext, this, 'end');
        break;
      case states.FINISH_EVENT:
        asyncContext.emit(this._asyncContext, this, 'finish');
        break;
      case states.DRAIN:
        // More may wait by now.
        if (this.writable && !this._needsDrain) {
          asyncContext.emit(this._asyncContext, this, 'drain');
        }
        break;
      case states.CLOSE:
        closing.closed(this, error);
        break;
      case states.CLOSE_EVENT:
        asyncContext.emit(this._asyncContext, this, 'close');
        break;
    }
  }

  /**
   * Our side is ended, or could not be. As in turbo-net `finish` comes either way.
   *
   * @param {Error | null} error
   */
  _finish(error) {
    this.finished = true;
    for (let end = this._ends.head; end !== null; end = end.next) end.error = error;
    if (this._ends.head !== null) this._failureHeard = true;
    reactor.runNext(this._ends);
    if (error !== null) closing.fail(this, error);
    else if (this.ended) closing.teardown(this, null);
    else reading.endUnread(this);
    asyncContext.emit(this._asyncContext, this, 'finish');
  }

  /**
   * @param {number} kind
   * @param {Function | null | undefined} callback
   */
  _makeRequest(kind, callback) {
    const done = validate.optionalCallback(callback);
    return done === null ? null : acquire(kind, this, done, asyncContext.capture());
  }

  /** @param {boolean} peer */
  _addressOf(peer) {
    const known = peer ? this._remote : this._local;
    const stands = this._phase === states.OPEN || this._phase === states.PIPED;
    if (known !== undefined || !stands) return known;
    const address = reactor.open().address(this._nativeId, peer);
    if (peer) this._remote = address;
    else this._local = address;
    return address;
  }
}

module.exports = Connection;
