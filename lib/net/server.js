'use strict';

const errors = require('../errors.js');
const native = require('../native.js');
const asyncContext = require('./async-context.js');
const Connection = require('./connection.js');
const Handle = require('./handle.js');
const reactor = require('./reactor.js');
const validate = require('./validate.js');
const { lookup } = require('./lookup.js');
const { CLOSE, Queue, acquire, acquireStep } = require('./request.js');

/** How many connections may wait to be accepted; that of node:net. */
const BACKLOG = 511;
/** How many are accepted in one turn. */
const ACCEPTS_PER_TURN = 64;
/** How long nothing is accepted after the descriptors have run out, in milliseconds. */
const PAUSE = 100;

const CLOSE_EVENT = 1;

/** A TCP server. */
class Server extends Handle {
  /** @param {import('../../index.js').ServerOptions | null} [options] */
  constructor(options) {
    super();
    /** @type {Connection[]} */
    this.connections = [];
    this.allowHalfOpen = !!options?.allowHalfOpen;

    this._noDelay = Boolean(options?.noDelay ?? true);
    /** What it listens on. @type {import('../../index.js').AddressInfo | null} */
    this._address = null;
    /** Whether there may be something to accept. */
    this._ready = false;
    /** Set while it waits to listen; a lookup that comes too late finds another one.
     * @type {object | null} */
    this._opening = null;
    /** The listener that the last call of listen() brought. @type {(() => void) | null} */
    this._onlistening = null;
    this._closes = new Queue();
    this._closing = false;
    /** @type {NodeJS.Timeout | undefined} */
    this._pause = undefined;
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
   * Listens for connections.
   *
   * @param {any} [port] a number or digits; 0, or none, takes any free one
   * @param {any} [address] an address or a name, by default 0.0.0.0
   * @param {any} [onlistening]
   */
  listen(port, address, onlistening) {
    if (typeof port === 'function') [port, onlistening] = [0, port];
    else if (typeof address === 'function') [address, onlistening] = [null, address];
    if (typeof port === 'object' && port !== null) {
      const expected = 'a number or digits, as in listen([port], [address], [onlistening])';
      throw errors.invalidArgType('port', expected, port);
    }
    const number = validate.port(port || 0);
    const host = address || '0.0.0.0';
    validate.host('address', host);
    const callback = validate.optionalCallback(onlistening);
    if (this._opening !== null || this._address !== null) throw errors.serverAlreadyListen();

    reactor.open(); // Where there are no sockets, it is said at once.

    this._onlistening = /** @type {(() => void) | null} */ (callback);
    if (this._onlistening !== null) this.once('listening', this._onlistening);
    this._asyncContext = asyncContext.capture();
    const opening = (this._opening = {});
    process.nextTick(() => {
      lookup(host, (error, addresses) => {
        if (this._opening !== opening) return;
        this._opening = null;
        if (error) this._listenFailed(error);
        else this._bind(addresses[0], number);
      });
    });
  }

  /**
   * Listens no more. Connections stay as they are.
   *
   * @param {((error?: Error) => void) | null} [callback]
   */
  close(callback) {
    const done = validate.optionalCallback(callback);
    const request = done === null ? null : acquire(CLOSE, this, done, asyncContext.capture());
    const running = this._opening !== null || this._address !== null;
    if (request !== null) {
      if (running || this._closing) {
        this._closes.push(request);
      } else {
        request.error = errors.serverNotRunning();
        reactor.complete(request);
      }
    }
    if (!running) return;
    this._closing = true;
    if (this._opening !== null) this._forgetListening();
    this._opening = null;
    this._address = null;
    clearTimeout(this._pause);
    this._pause = undefined;
    this._closeNative();
    this._letGoAll();
    reactor.complete(acquireStep(this, CLOSE_EVENT, null));
  }

  /**
   * @param {string} address
   * @param {number} port
   */
  _bind(address, port) {
    const id = reactor.open().listen(address, port, BACKLOG, this._noDelay);
    if (id < 0) {
      this._listenFailed(errors.system(id, 'listen', address, port));
      return;
    }
    this._nativeId = id;
    reactor.register(id, this);
    this._hold();
    const bound = reactor.open().address(id, false);
    this._address = { address, family: bound?.family ?? '', port: bound?.port ?? port };
    this.emit('listening');
  }

  /** @param {Error} error */
  _listenFailed(error) {
    this._forgetListening();
    this.emit('error', error);
  }

  /** What was to run when it listens, does not. */
  _forgetListening() {
    if (this._onlistening !== null) this.removeListener('listening', this._onlistening);
    this._onlistening = null;
  }

  _onready() {
    this._ready = true;
    this._proceed();
  }

  /** Accepts what waits, some now and the others in the next turn. */
  _proceed() {
    if (this._pause !== undefined) return;
    for (let count = 0; count < ACCEPTS_PER_TURN && this._ready && this._nativeId >= 0; count++) {
      const id = reactor.open().accept(this._nativeId);
      if (id === native.ECONNABORTED) continue;
      if (id < 0) {
        this._ready = false;
        if (id !== native.EAGAIN) this._drop(id);
        return;
      }
      // Before the listener runs: it may throw, and others wait.
      reactor.list(this);
      const connection = new Connection(this);
      connection._index = this.connections.push(connection) - 1;
      connection._accepted(id);
      asyncContext.emit(this._asyncContext, this, 'connection', connection);
    }
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
    // The array is the program's too.
    const { connections } = this;
    if (connections[connection._index] !== connection) return;
    const last = /** @type {Connection} */ (connections.pop());
    if (last === connection) return;
    connections[connection._index] = last;
    last._index = connection._index;
  }

  _step() {
    this._closing = false;
    reactor.runNext(this._closes);
    asyncContext.emit(this._asyncContext, this, 'close');
  }
}

module.exports = Server;
