'use strict';

const { inspect } = require('util');
const errors = require('../errors.js');
const net = require('../net/index.js');
const Connection = require('./connection.js');
const { opened } = require('./opened.js');

/** How many accepted connections wait for who takes them; further ones wait in the system. */
const WAITING = 64;

/** @typedef {IteratorResult<Connection, undefined>} Taken */

/** A server whose connections are iterated over. */
class Server {
  /** @param {any} [given] as for a server with callbacks */
  constructor(given) {
    /** The same with callbacks and events. */
    this.server = net.createServer(given);
    /** Connections that nobody has taken. @type {Connection[]} */
    this._waiting = [];
    /** Who waits for one. @type {((taken: Taken) => void)[]} */
    this._takers = [];
    /** Whether it has closed since it listened. */
    this._over = false;
    this.server.on('connection', (connection) => this._offer(new Connection(connection)));
    this.server.on('close', () => this._onclose());
  }

  /** Whether it listens. */
  get listening() {
    return this.server.listening;
  }

  /**
   * Listens for connections.
   *
   * @param {...any} given as for a server with callbacks
   * @returns {Promise<Server>} fulfilled, with itself, when it listens
   */
  async listen(...given) {
    const { server } = this;
    server.listen(...given);
    this._over = false;
    await opened(server, 'listening', () => (server._running ? null : whyClosed(given[0]?.signal)));
    return this;
  }

  /** Where it listens. */
  address() {
    return this.server.address();
  }

  /**
   * Listens no more, and closes connections that nobody has taken; others stay as they are.
   *
   * @returns {Promise<void>} fulfilled when it does not listen any more, or never did
   */
  close() {
    return this[Symbol.asyncDispose]();
  }

  /**
   * Its connections, each for one iterator, until it is closed. Who leaves before closes it.
   *
   * @returns {AsyncIterableIterator<Connection>}
   */
  [Symbol.asyncIterator]() {
    return {
      next: () => this._take(),
      return: async () => {
        await this[Symbol.asyncDispose]();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Closes it, if it is not closed yet, and waits until it is. */
  [Symbol.asyncDispose]() {
    this._refuseWaiting();
    return this.server[Symbol.asyncDispose]();
  }

  /**
   * What console.log shows.
   *
   * @param {number} depth
   * @param {import('util').InspectOptions} shown
   */
  [inspect.custom](depth, shown) {
    return this.server[inspect.custom](depth, shown);
  }

  /** The next connection, as soon as there is one. @returns {Promise<Taken>} */
  _take() {
    const connection = this._waiting.shift();
    if (this._waiting.length < WAITING) this.server._holdBack(false);
    if (connection !== undefined) return Promise.resolve({ value: connection, done: false });
    if (this._over) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => void this._takers.push(resolve));
  }

  /** @param {Connection} connection */
  _offer(connection) {
    const take = this._takers.shift();
    if (take !== undefined) {
      take({ value: connection, done: false });
    } else if (this._waiting.push(connection) >= WAITING) {
      this.server._holdBack(true);
    }
  }

  _onclose() {
    if (this.server._running) return; // It has begun to listen anew.
    this._over = true;
    this._refuseWaiting();
    for (const take of this._takers.splice(0)) take({ value: undefined, done: true });
  }

  _refuseWaiting() {
    for (const connection of this._waiting.splice(0)) connection.destroy();
  }
}

/**
 * Why a server that was about to listen is closed.
 *
 * @param {AbortSignal | undefined} signal
 */
function whyClosed(signal) {
  return signal?.aborted ? errors.aborted(signal.reason) : errors.serverNotRunning();
}

module.exports = Server;
