'use strict';

const { EventEmitter } = require('events');
const reactor = require('./reactor.js');

/** What connections and servers share: a place in the reactor, and whether the process waits. */
class Handle extends EventEmitter {
  constructor() {
    super();
    /** The native socket, or -1. */
    this._nativeId = -1;
    /** Whether it is among those that are still ready, and which comes after it there. */
    this._listed = false;
    /** @type {Handle | null} */
    this._nextListed = null;
    /** How many things it waits for, and whether the process waits with it. */
    this._pending = 0;
    this._refed = true;
    /** Whether its peer is to know, when it closes, that not all bytes arrived. */
    this._resets = false;
    /** The async context of its events. @type {import('async_hooks').AsyncResource | null} */
    this._asyncContext = null;
  }

  /**
   * What is pending here keeps the process alive. That is the default.
   *
   * @returns {this}
   */
  ref() {
    if (!this._refed) reactor.holdDue();
    if (!this._refed && this._pending > 0) reactor.hold();
    this._refed = true;
    return this;
  }

  /**
   * What is pending here does not keep the process alive.
   *
   * @returns {this}
   */
  unref() {
    if (this._refed && this._pending > 0) reactor.letGo();
    this._refed = false;
    return this;
  }

  /** It waits for one thing more. */
  _hold() {
    if (this._pending === 0 && this._refed) reactor.hold();
    this._pending++;
  }

  /** It waits for one thing less. */
  _letGo() {
    if (this._pending === 1 && this._refed) reactor.letGo();
    this._pending--;
  }

  /** It waits for nothing more. */
  _letGoAll() {
    if (this._pending > 0 && this._refed) reactor.letGo();
    this._pending = 0;
  }

  /** Closes the native socket. */
  _closeNative() {
    if (this._nativeId < 0) return;
    reactor.unregister(this._nativeId);
    if (this._resets) reactor.open().reset(this._nativeId);
    else reactor.open().close(this._nativeId);
    this._nativeId = -1;
  }

  /** The native socket has become ready. @param {number} _readiness */
  _onready(_readiness) {}

  /** It still was ready when a turn had passed. */
  _proceed() {}

  /**
   * Takes a step between callbacks.
   *
   * @param {number} _step
   * @param {Error | null} _error
   */
  _step(_step, _error) {}
}

module.exports = Handle;
