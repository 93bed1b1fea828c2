'use strict';

// The way to a connection: the addresses of a host are tried one after another.

const { getDefaultAutoSelectFamilyAttemptTimeout, isIPv6 } = require('net');
const errors = require('../errors.js');
const native = require('../native.js');
const asyncContext = require('./async-context.js');
const closing = require('./closing.js');
const idle = require('./idle.js');
const reactor = require('./reactor.js');
const states = require('./states.js');
const writing = require('./writing.js');
const { lookup } = require('./lookup.js');

/** @typedef {import('./connection.js')} Connection */

const EINVAL = errors.numberOf('EINVAL');
const ETIMEDOUT = errors.numberOf('ETIMEDOUT');

class Connecting {
  /**
   * @param {Connection} connection
   * @param {import('./options.js').ConnectSettings} settings
   */
  constructor(connection, settings) {
    this._connection = connection;
    this._settings = settings;
    /** @type {string[]} */
    this._addresses = [];
    this._next = 0;
    /** @type {import('../errors.js').CodedError[]} */
    this._errors = [];
    /** @type {NodeJS.Timeout | undefined} */
    this._timer = undefined;
  }

  start() {
    this._connection._hold();
    lookup(this._settings.host, this._settings, (error, addresses) => {
      if (this._connection._phase !== states.CONNECTING) return;
      this._addresses = addresses;
      if (error) closing.step(this._connection, states.CONNECT_FAILED, error);
      else this._tryNext();
    });
  }

  /** The connection is given up. */
  stop() {
    clearTimeout(this._timer);
  }

  /** The native socket has news. */
  onready() {
    const connection = this._connection;
    const result = reactor.open().finishConnect(connection._nativeId);
    if (result === 0) return;
    this.stop();
    if (result < 0) {
      this._failed(result);
      return;
    }
    connection._connecting = null;
    const isPiped = connection._pipe !== null;
    connection._phase = isPiped ? states.PIPED : states.OPEN;
    connection.readable = !isPiped;
    connection.writable = !isPiped && !connection._ending;
    connection._letGo();
    idle.refresh(connection);
    writing.drain(connection);
    if (connection._reads.head !== null) reactor.list(connection);
    try {
      asyncContext.emit(connection._asyncContext, connection, 'connect');
    } finally {
      // As in node:net a reset that was asked for before comes behind the event.
      if (connection._resets) connection.destroy();
    }
  }

  _tryNext() {
    const connection = this._connection;
    while (this._next < this._addresses.length) {
      const address = this._addresses[this._next++];
      const id = this._try(address);
      if (id >= 0) {
        connection._nativeId = id;
        reactor.register(id, connection);
        this._giveTime();
        return;
      }
      this._note(id);
    }
    closing.step(connection, states.CONNECT_FAILED, errors.connect(this._errors));
  }

  /** @param {string} address */
  _try(address) {
    const { port, localPort } = this._settings;
    const from = this._localAddress(address);
    // Systems do not agree on the error of this one.
    if (from !== undefined && isIPv6(from) !== isIPv6(address)) return native.BIND + EINVAL;
    const { _noDelay, _keepAlive } = this._connection;
    return reactor.open().connect(address, port, _noDelay, _keepAlive, from, localPort);
  }

  /**
   * Where to connect from, if that was said. A port alone is one of any address of the family.
   *
   * @param {string} address where to
   * @returns {string | undefined}
   */
  _localAddress(address) {
    const { localAddress, localPort } = this._settings;
    if (localAddress !== undefined || localPort === 0) return localAddress;
    return isIPv6(address) ? '::' : '0.0.0.0';
  }

  /** While there are other addresses to try, an attempt gets as much time as Node gives it. */
  _giveTime() {
    if (this._next === this._addresses.length) return;
    const time = getDefaultAutoSelectFamilyAttemptTimeout();
    this._timer = setTimeout(() => this._failed(ETIMEDOUT), time);
    this._timer.unref(); // The connection keeps the process alive, or does not.
  }

  /** @param {number} code */
  _failed(code) {
    this._note(code);
    this._connection._ready = this._connection._hungUp = false;
    this._connection._closeNative();
    this._tryNext();
  }

  /** Why the latest address was not reached. @param {number} code */
  _note(code) {
    const { port, localPort } = this._settings;
    const address = this._addresses[this._next - 1];
    const localAddress = this._localAddress(address);
    const error =
      code <= native.BIND
        ? errors.system(code - native.BIND, 'bind', localAddress, localPort)
        : errors.system(code, 'connect', address, port, localAddress, localPort);
    this._errors.push(error);
  }
}

module.exports = Connecting;
