'use strict';

const { inspect } = require('util');
const errors = require('../errors.js');
const native = require('../native.js');
const asyncContext = require('./async-context.js');
const cluster = require('./cluster.js');
const Connection = require('./connection.js');
const Handle = require('./handle.js');
const reactor = require('./reactor.js');
const options = require('./options.js');
const StackCheck = require('./stack.js');
const validate = require('./validate.js');
const { Abortion, closeOf } = require('./lifetime.js');
const { lookup } = require('./lookup.js');
const { CLOSE, Queue, acquire, acquireStep } = require('./request.js');

/** How many are accepted in one turn. */
const ACCEPTS_PER_TURN = 64;
/** How long nothing is accepted after the descriptors have run out, in milliseconds. */
const PAUSE = 100;

const stack = { listen: new StackCheck(0), close: new StackCheck(0) };

const CLOSE_EVENT = 1;

/** A TCP server. */
class Server extends Handle {
  /** @param {import('../../index.js').ServerOptions | null} [given] */
  constructor(given) {
    super();
    this._settings = options.socketSettings(given);
    /** @type {Connection[]} */
    this.connections = [];
    this.allowHalfOpen = this._settings.allowHalfOpen;
    /** How many connections there may be; those past it are closed as they come. */
    this.maxConnections = Infinity;

    /** What it listens on. @type {import('../../index.js').AddressInfo | null} */
    this._address = null;
    /** Whether there may be something to accept, and whether it waits until somebody wants it. */
    this._ready = false;
    this._heldBack = false;
    /** Set while it waits to listen; a lookup that comes too late finds another one.
     * @type {object | null} */
    this._opening = null;
    /** The listener that the last call of listen() brought. @type {(() => void) | null} */
    this._onlistening = null;
    this._closes = new Queue();
    this._closing = false;
    /** @type {NodeJS.Timeout | undefined} */
    this._pause = undefined;
    /** @type {Abortion | null} */
    this._abortion = null;
  }

  /** Whether it listens. */
  get listening() {
    return this._address !== null;
  }

  /** Whether it listens, or is about to. */
  get _running() {
    return this._opening !== null || this._address !== null;
  }

  /**
   * Where it listens: the address that was asked for, and the port.
   *
   * @returns {import('../../index.js').AddressInfo}
   */
  address() {
    if (this._address === null) throw errors.serverNotRunning();
    return { ...this._address };
  }

  /**
   * Listens for connections: listen([port], [host], [backlog], [onlistening]) or
   * listen(options, [onlistening]).
   *
   * @param {...any} given
   * @returns {this}
   */
  listen(...given) {
    const { settings, listener } = options.listenArguments(given);
    if (this._running) throw errors.serverAlreadyListen();

    stack.listen.pass();
    reactor.open(); // Where there are no sockets, it is said at once.
    this._abortion = Abortion.on(settings.signal, () => this.close());

    this._onlistening = listener;
    if (listener !== null) this.once('listening', listener);
    this._asyncContext = asyncContext.capture();
    const opening = (this._opening = {});
    process.nextTick(() => {
      lookup(settings.host, {}, (error, addresses) => {
        if (this._opening !== opening) return;
        this._opening = null;
        if (error) this._listenFailed(error);
        else this._bind(addresses[0], settings);
      });
    });
    this._abortion?.begin();
    return this;
  }

  /**
   * Listens no more. Connections stay as they are.
   *
   * @param {((error?: Error) => void) | null} [callback]
   * @returns {this}
   */
  close(callback) {
    const done = validate.optionalCallback(callback);
    stack.close.pass();
    const request = done === null ? null : acquire(CLOSE, this, done, asyncContext.capture());
    const running = this._running;
    if (request !== null) {
      if (running || this._closing) {
        this._closes.push(request);
      } else {
        request.error = errors.serverNotRunning();
        reactor.complete(request);
      }
    }
    if (!running) return this;
    this._closing = true;
    this._forgetSignal();
    if (this._opening !== null) this._forgetListening();
    this._opening = null;
    this._address = null;
    cluster.left(this);
    clearTimeout(this._pause);
    this._pause = undefined;
    this._closeNative();
    this._letGoAll();
    reactor.complete(acquireStep(this, CLOSE_EVENT, null));
    return this;
  }

  /**
   * What console.log shows.
   *
   * @param {number} _depth
   * @param {import('util').InspectOptions} options
   */
  [inspect.custom](_depth, options) {
    const shown = { address: this._address, connections: this.connections.length };
    return `${this.constructor.name} ${inspect(shown, options)}`;
  }

  /** Closes the server, if it is not closed yet, and waits until it is. */
  [Symbol.asyncDispose]() {
    return closeOf(this, () => this.close(), !this._running && !this._closing);
  }

  /**
   * @param {string} address
   * @param {import('./options.js').ListenSettings} settings
   */
  _bind(address, settings) {
    const { port, backlog, ipv6Only, exclusive } = settings;
    // The workers of a cluster share a port as the system lets them: each has a listener.
    const reusePort = settings.reusePort || (!exclusive && cluster.sharesPorts());
    const { noDelay, keepAlive } = this._settings;
    const id = reactor
      .open()
      .listen(address, port, backlog, ipv6Only, reusePort, noDelay, keepAlive);
    if (id < 0) {
      this._listenFailed(errors.system(id, 'listen', address, port));
      return;
    }
    this._nativeId = id;
    reactor.register(id, this);
    this._hold();
    const bound = reactor.open().address(id, false);
    this._address = { address, family: bound?.family ?? '', port: bound?.port ?? port };
    cluster.joined(this, this._address);
    this.emit('listening');
  }

  /** @param {Error} error */
  _listenFailed(error) {
    this._forgetListening();
    this._forgetSignal();
    this.emit('error', error);
  }

  /** What was to run when it listens, does not. */
  _forgetListening() {
    if (this._onlistening !== null) this.removeListener('listening', this._onlistening);
    this._onlistening = null;
  }

  _forgetSignal() {
    this._abortion?.forget();
    this._abortion = null;
  }

  /**
   * Whether connections wait in the system.
   *
   * @param {boolean} held
   */
  _holdBack(held) {
    this._heldBack = held;
    if (!held && this._ready && this._nativeId >= 0) reactor.list(this);
  }

  _onready() {
    this._ready = true;
    this._proceed();
  }

  /** Accepts what waits, some now and the others in the next turn. */
  _proceed() {
    if (this._pause !== undefined) return;
    for (let count = 0; count < ACCEPTS_PER_TURN && this._ready && this._nativeId >= 0; count++) {
      if (this._heldBack) return;
      const id = reactor.open().accept(this._nativeId);
      if (id === native.ECONNABORTED) continue;
      if (id < 0) {
        this._ready = false;
        if (id !== native.EAGAIN) this._drop(id);
        return;
      }
      // Before the listener runs: it may throw, and others wait.
      reactor.list(this);
      const connection = this._admit(id);
      if (connection === null) this._refuse(id);
      else asyncContext.emit(this._asyncContext, this, 'connection', connection);
    }
  }

  /**
   * A connection for a socket, or null where there are as many as there may be.
   *
   * @param {number} id
   * @returns {Connection | null}
   */
  _admit(id) {
    try {
      // As in node:net null and undefined are no limit.
      if (this.connections.length >= (this.maxConnections ?? Infinity)) return null;
      const connection = new Connection(this);
      connection._index = this.connections.push(connection) - 1;
      connection._accepted(id);
      return connection;
    } catch (error) {
      // What the program has made of these properties may not do.
      reactor.open().close(id);
      throw error;
    }
  }

  /**
   * There are as many connections as there may be.
   *
   * @param {number} id
   */
  _refuse(id) {
    const local = reactor.open().address(id, false);
    const remote = reactor.open().address(id, true);
    reactor.open().close(id);
    asyncContext.emit(this._asyncContext, this, 'drop', {
      localAddress: local?.address,
      localPort: local?.port,
      localFamily: local?.family,
      remoteAddress: remote?.address,
      remotePort: remote?.port,
      remoteFamily: remote?.family,
    });
  }

  /**
   * Nothing can be accepted, mostly for want of descriptors. What waits goes on waiting.
   *
   * @param {number} code
   */
  _drop(code) {
    this._pause = setTimeout(() => {
      this._pause = undefined;
      this._ready = true;
      reactor.list(this);
    }, PAUSE);
    if (!this._refed) this._pause.unref();
    asyncContext.emit(this._asyncContext, this, 'drop', { error: errors.system(code, 'accept') });
  }

  /**
   * @param {Connection} connection
   */
  _removeConnection(connection) {
    const { connections } = this;
    let index = connection._index;
    // The array is the program's too, which may have sorted it.
    if (connections[index] !== connection) index = connections.indexOf(connection);
    if (index < 0) return;
    const last = /** @type {Connection} */ (connections.pop());
    if (last === connection) return;
    connections[index] = last;
    if (last instanceof Connection) last._index = index;
  }

  _step() {
    this._closing = false;
    reactor.runNext(this._closes);
    asyncContext.emit(this._asyncContext, this, 'close');
  }
}

module.exports = Server;
