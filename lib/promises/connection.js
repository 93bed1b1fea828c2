'use strict';

const { inspect } = require('util');
const net = require('../net/index.js');
const reading = require('../net/reading.js');
const writing = require('../net/writing.js');
const { operation } = require('./operation.js');

const { pool } = net;

/** @typedef {import('./operation.js').Kind} Kind */

const READ = /** @type {Kind} */ ({
  begin: (connection, buffer, _size, _given, done) => connection.read(buffer, done),
  refuse: nothing,
  withdraw: reading.withdraw,
  resultOf: (_buffer, count) => count,
});

const READ_OF_POOL = /** @type {Kind} */ ({
  ...READ,
  resultOf: (buffer, bytesRead) => ({ buffer, bytesRead }),
});

const WRITE = /** @type {Kind} */ ({
  begin: (connection, data, length, given, done) => connection.write(data, length, given, done),
  refuse: (data, given) => given.release && pool.release(data),
  withdraw: writing.withdraw,
  resultOf: nothing,
});

const WRITEV = /** @type {Kind} */ ({
  ...WRITE,
  refuse: nothing,
  begin: (connection, buffers, lengths, _given, done) => connection.writev(buffers, lengths, done),
});

const END = /** @type {Kind} */ ({
  begin: (connection, data, length, _given, done) => connection.end(data, length, done),
  refuse: nothing,
  withdraw: () => false,
  resultOf: nothing,
});

const CLOSE = /** @type {Kind} */ ({
  begin: (connection, _data, _size, _given, done) => connection.close(done),
  refuse: nothing,
  withdraw: () => false,
  resultOf: nothing,
});

/** A connection whose operations are promises. */
class Connection {
  /** @param {import('../net/connection.js')} connection */
  constructor(connection) {
    /** The same with callbacks and events. */
    this.connection = connection;
  }

  /**
   * Reads what has arrived into `buffer`, or into one of the pool.
   *
   * @param {any} buffer
   * @param {{ signal?: AbortSignal }} [given]
   * @returns {Promise<any>} how many bytes, 0 at the end; of the pool the buffer too
   */
  read(buffer, given) {
    const kind = buffer === pool ? READ_OF_POOL : READ;
    return operation(kind, this.connection, buffer, undefined, given);
  }

  /**
   * Writes `data`, or the first `length` bytes of it.
   *
   * @param {any} data
   * @param {any} [length] a number of bytes; for a string its encoding
   * @param {{ signal?: AbortSignal, release?: boolean }} [given]
   * @returns {Promise<void>} fulfilled when the kernel has taken it
   */
  write(data, length, given) {
    return operation(WRITE, this.connection, data, length, given);
  }

  /**
   * Writes several buffers, or the first `lengths[i]` bytes of each, one behind the other.
   *
   * @param {Uint8Array[]} buffers
   * @param {any} [lengths]
   * @param {{ signal?: AbortSignal }} [given]
   * @returns {Promise<void>} fulfilled when the kernel has taken them
   */
  writev(buffers, lengths, given) {
    return operation(WRITEV, this.connection, buffers, lengths, given);
  }

  /**
   * Ends our side, as soon as all that was written has left, `data` as the last.
   *
   * @param {any} [data]
   * @param {any} [length] a number of bytes; for a string its encoding
   * @returns {Promise<void>} fulfilled when the kernel has been told
   */
  end(data, length) {
    return operation(END, this.connection, data, length, undefined);
  }

  /**
   * Closes the connection. What the kernel has taken still arrives.
   *
   * @returns {Promise<void>} fulfilled when it is closed
   */
  close() {
    return operation(CLOSE, this.connection, undefined, undefined, undefined);
  }

  /**
   * Closes the connection at once.
   *
   * @param {Error | null} [error] what pending operations are told
   * @returns {this}
   */
  destroy(error) {
    this.connection.destroy(error);
    return this;
  }

  /**
   * What arrives, in buffers of its own, until the end. Who leaves before it closes the connection.
   *
   * @returns {AsyncGenerator<Buffer, void, void>}
   */
  async *[Symbol.asyncIterator]() {
    let ended = false;
    try {
      for (;;) {
        const { buffer, bytesRead } = await this.read(pool);
        if (buffer === null) {
          ended = true;
          return;
        }
        const chunk = Buffer.from(buffer.subarray(0, bytesRead));
        pool.release(buffer);
        yield chunk;
      }
    } finally {
      if (!ended) this.destroy();
    }
  }

  /** Closes the connection, if it is not closed yet, and waits until it is. */
  [Symbol.asyncDispose]() {
    return this.connection[Symbol.asyncDispose]();
  }

  /**
   * What console.log shows.
   *
   * @param {number} depth
   * @param {import('util').InspectOptions} shown
   */
  [inspect.custom](depth, shown) {
    return this.connection[inspect.custom](depth, shown);
  }
}

function nothing() {}

module.exports = Connection;
