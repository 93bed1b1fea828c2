'use strict';

// One operation under way, from the call to its callback. Requests are used again, so that a
// message costs no allocation.

/** What a request stands for. */
const READ = 1;
const WRITE = 2;
/** The callback of end(). */
const END = 3;
/** The callback of close(). */
const CLOSE = 4;
/** The callback of pipe(). */
const PIPE = 6;
/** A step in the life of a socket or server: `socket._step(step, error)` takes it. */
const STEP = 5;

/** How many unused requests are kept. */
const MAX_FREE = 4096;

/** How many requests were made so far; wraps. */
let made = 0;

/** @type {Request | null} */
let free = null;
let freeCount = 0;

class Request {
  constructor() {
    this.kind = 0;
    /** @type {any} */
    this.socket = null;
    /** @type {Function | null} */
    this.callback = null;
    /** @type {import('async_hooks').AsyncResource | null} */
    this.context = null;
    /** @type {Error | null} */
    this.error = null;
    /** What the caller gave, and gets back. @type {unknown} */
    this.buffer = null;
    /** What the caller is told: a number of bytes, for writev the lengths. @type {number | number[]} */
    this.length = 0;
    /** What is filled, or sent: one buffer, or `lengths[i]` of each. @type {any} */
    this.data = null;
    /** @type {number[] | null} */
    this.lengths = null;
    /** How many bytes a write has, and what of `data` is left: `left` bytes from `start` in the
     * buffer `index` on. */
    this.total = 0;
    this.index = 0;
    this.start = 0;
    this.left = 0;
    /** What goes back to the pool. @type {Uint8Array | null} */
    this.releases = null;
    /** For STEP which step, else the place in the order of calls. */
    this.order = 0;
    /** @type {Request | null} */
    this.next = null;
  }
}

/** Requests in order. */
class Queue {
  constructor() {
    /** @type {Request | null} */
    this.head = null;
    /** @type {Request | null} */
    this.tail = null;
  }

  /** @param {Request} request */
  push(request) {
    if (this.tail === null) this.head = request;
    else this.tail.next = request;
    this.tail = request;
  }

  /** The one with a callback, if there is one. @param {Function} callback */
  find(callback) {
    let request = this.head;
    while (request !== null && request.callback !== callback) request = request.next;
    return request;
  }

  /** Takes one from among them. @param {Request} request */
  remove(request) {
    /** @type {Request | null} */
    let before = null;
    for (let at = this.head; at !== request && at !== null; at = at.next) before = at;
    if (before === null) this.head = request.next;
    else before.next = request.next;
    if (this.tail === request) this.tail = before;
    request.next = null;
  }

  /** Takes all. @returns {Request[]} */
  takeAll() {
    const all = [];
    while (this.head !== null) all.push(this.shift());
    return all;
  }

  /** Takes the first; there must be one. @returns {Request} */
  shift() {
    const request = /** @type {Request} */ (this.head);
    this.head = request.next;
    if (this.head === null) this.tail = null;
    request.next = null;
    return request;
  }

  /** Moves all of `other` behind these. @param {Queue} other */
  append(other) {
    if (other.head === null) return;
    if (this.tail === null) this.head = other.head;
    else this.tail.next = other.head;
    this.tail = other.tail;
    other.head = other.tail = null;
  }

  /** Moves all of `other` in front of these. @param {Queue} other */
  prepend(other) {
    other.append(this);
    this.append(other);
  }
}

/**
 * @param {number} kind
 * @param {any} socket
 * @param {Function | null} callback
 * @param {import('async_hooks').AsyncResource | null} context
 * @returns {Request}
 */
function acquire(kind, socket, callback, context) {
  let request = free;
  if (request === null) {
    request = new Request();
  } else {
    free = request.next;
    request.next = null;
    freeCount--;
  }
  request.kind = kind;
  request.socket = socket;
  request.callback = callback;
  request.context = context;
  request.order = made = (made + 1) | 0;
  return request;
}

/**
 * A request for a step.
 *
 * @param {any} socket
 * @param {number} step
 * @param {Error | null} error
 */
function acquireStep(socket, step, error) {
  const request = acquire(STEP, socket, null, null);
  request.order = step;
  request.error = error;
  return request;
}

/** Gives a request back and lets go of all it held. @param {Request} request */
function release(request) {
  request.socket = request.callback = request.context = null;
  request.error = request.buffer = request.data = request.lengths = null;
  request.length = request.total = request.index = request.start = request.left = request.order = 0;
  request.releases = null;
  if (freeCount === MAX_FREE) return;
  freeCount++;
  request.next = free;
  free = request;
}

module.exports = {
  CLOSE,
  END,
  PIPE,
  Queue,
  READ,
  Request,
  STEP,
  WRITE,
  acquire,
  acquireStep,
  release,
};
