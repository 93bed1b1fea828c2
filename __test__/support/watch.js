'use strict';

// What holds of every test of bad input and bad luck: each callback ran exactly once, and nothing
// is left open.

const assert = require('assert');
const fs = require('fs');
const { turns } = require('./sockets');

/** How long is waited for what does not come, in milliseconds; only a test that fails waits. */
const PATIENCE = 5000;

/** Callbacks that are each to be called once. */
class Calls {
  constructor() {
    /** What was called, in order: `name` or, where it was told an error, `name CODE`. */
    this.log = /** @type {string[]} */ ([]);
    /** @type {Map<string, number>} */
    this._counts = new Map();
    /** Those that need not be called. @type {Set<string>} */
    this._optional = new Set();
  }

  /**
   * A callback.
   *
   * @param {string} name each callback has another one
   * @param {(...args: any[]) => unknown} [body] what it does when it is called
   */
  of(name, body = () => {}) {
    assert.ok(!this._counts.has(name), `${name} is the name of another callback`);
    this._counts.set(name, 0);
    return (/** @type {any[]} */ ...args) => {
      this._counts.set(name, (this._counts.get(name) ?? 0) + 1);
      const [error] = args;
      this.log.push(error instanceof Error ? `${name} ${codeOf(error)}` : name);
      body(...args);
    };
  }

  /**
   * A callback that is called once or not at all.
   *
   * @param {string} name
   * @param {(...args: any[]) => unknown} [body]
   */
  most(name, body) {
    this._optional.add(name);
    return this.of(name, body);
  }

  /**
   * Listens for events, each of which is to come once.
   *
   * @param {import('events').EventEmitter} emitter
   * @param {string[]} events
   */
  on(emitter, events) {
    for (const event of events) emitter.on(event, this.of(event));
  }

  /** Whether all were called. */
  get complete() {
    return [...this._counts].every(([name, count]) => count > 0 || this._optional.has(name));
  }

  /** Waits until all were called, and for some turns more, in which none may be called again. */
  async once() {
    await until(() => this.complete);
    await turns();
    const wrong = [...this._counts].filter(
      ([name, count]) => count !== 1 && !(count === 0 && this._optional.has(name)),
    );
    assert.deepStrictEqual(wrong, [], `not called once; in all ${this.log}`);
  }
}

/** @param {any} error */
function codeOf(error) {
  return error.code ?? error.message;
}

/** How a promise ends: its value, or the code of its error. @param {Promise<unknown>} promise */
function outcome(promise) {
  return promise.then((value) => value, codeOf);
}

/**
 * Waits until something holds, or for so long that it is not to be expected any more.
 *
 * @param {() => boolean} holds
 */
async function until(holds) {
  for (let i = 0; i < 20 && !holds(); i++) await turns(1);
  const end = performance.now() + PATIENCE;
  while (!holds() && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 1));
}

/**
 * Runs a test, closes what it has opened, and checks that no descriptor of a socket is left. That
 * is known on Linux alone.
 *
 * @param {(t: import('./sockets').Scope) => unknown} body
 */
async function leavesNothing(body) {
  await turns(); // What the test before has closed may be on its way.
  const before = openSockets();
  /** @type {(() => unknown)[]} */
  const ends = [];
  try {
    await body({ after: (end) => void ends.push(end) });
  } finally {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  }
  await until(() => openSockets() <= before);
  assert.ok(
    openSockets() <= before,
    `${openSockets()} sockets are open, and ${before} were before`,
  );
}

/** How many descriptors of sockets this process has; 0 where that is not known. */
function openSockets() {
  if (process.platform !== 'linux') return 0;
  const isSocket = (/** @type {string} */ name) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${name}`).startsWith('socket:');
    } catch {
      return false; // It was that of the folder itself.
    }
  };
  return fs.readdirSync('/proc/self/fd').filter(isSocket).length;
}

module.exports = { Calls, codeOf, leavesNothing, openSockets, outcome, until };
