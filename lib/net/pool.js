'use strict';

// Buffers for connections that have nothing to read at the moment: a read of `pool` gets one only
// when there are bytes, and the program gives it back. So a thousand idle connections need none.

const { isUint8Array } = require('util/types');
const errors = require('../errors.js');
const { sizeOf } = require('./bytes.js');

/** The size of a buffer, in bytes. */
const SIZE = 64 * 1024;
/** How many are kept for the next reads. */
const MAX_FREE = 64;

/** Set on each buffer: whether the program has it. It has not while a write is to give it back. */
const lent = Symbol('lent');

/** @typedef {Buffer & { [lent]?: boolean }} PooledBuffer */

class Pool {
  constructor() {
    /** @type {PooledBuffer[]} */
    this._free = [];
    this._lentCount = 0;
  }

  /** How large its buffers are, in bytes. */
  get bufferSize() {
    return SIZE;
  }

  /** How many buffers were handed out and not released. */
  get lent() {
    return this._lentCount;
  }

  /**
   * Takes a buffer back that a read has brought.
   *
   * @param {Uint8Array} buffer
   */
  release(buffer) {
    this.giveUp(buffer);
    this.putBack(buffer);
  }

  /**
   * The program has it no more: a write, or release(), gives it back.
   *
   * @param {any} buffer
   */
  giveUp(buffer) {
    if (!this.isLent(buffer)) throw errors.notLent();
    buffer[lent] = false;
  }

  /** Whether the program has it. @param {any} buffer */
  isLent(buffer) {
    return isUint8Array(buffer) && /** @type {PooledBuffer} */ (buffer)[lent] === true;
  }

  /** Hot: a buffer for a read. @returns {PooledBuffer} */
  take() {
    let buffer = this._free.pop();
    // A program may have detached one that it had given back.
    while (buffer !== undefined && sizeOf(buffer) !== SIZE) buffer = this._free.pop();
    buffer ??= /** @type {PooledBuffer} */ (Buffer.allocUnsafeSlow(SIZE));
    buffer[lent] = true;
    this._lentCount++;
    return buffer;
  }

  /** Hot: a buffer is free. @param {Uint8Array} buffer */
  putBack(buffer) {
    this._lentCount--;
    // One that was detached meanwhile is of no use.
    if (this._free.length < MAX_FREE && sizeOf(buffer) === SIZE) {
      this._free.push(/** @type {PooledBuffer} */ (buffer));
    }
  }
}

const pool = new Pool();

module.exports = { Pool, pool };
