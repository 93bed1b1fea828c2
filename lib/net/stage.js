'use strict';

// The write stage: small writes of one socket in one turn are copied here, to leave together in one
// system call. It belongs to one socket at a time. Whose bytes it holds and how many stands in the
// shared memory, so that the native half can send them when the environment is torn down; and it
// sets their number to 0 as it sends, so that wherever JavaScript is stopped nothing leaves twice.

const { part, sizeOf } = require('./bytes.js');
const { open, stage, words } = require('./reactor.js');
const { Queue } = require('./request.js');

/** @typedef {import('./connection.js')} Connection */

/** The largest write that is staged, in bytes. */
const SMALL = 4096;
/** To look it up in a Buffer takes 3 ns each time. */
const copyFrom = Uint8Array.prototype.set;

const OWNER = 0;
const LENGTH = 1;

/** @type {Connection | null} */
let owner = null;
let copied = 0;

/** The requests whose bytes are staged; a write without a callback has none. */
const requests = new Queue();

/** Whose bytes are staged. */
function currentOwner() {
  return owner;
}

/**
 * Whether what is staged is of `socket`. A program may hold it behind a Proxy: its id says who it is.
 *
 * @param {Connection} socket
 */
function belongsTo(socket) {
  return owner !== null && words[OWNER] === socket._nativeId;
}

/**
 * Hot: whether what is staged was added by this very object.
 *
 * @param {Connection} socket
 */
function isOf(socket) {
  return owner === socket;
}

/** How many bytes are staged. */
function length() {
  return owner === null ? 0 : words[LENGTH];
}

/**
 * Whether `count` bytes of `socket` may be added as things are.
 *
 * @param {Connection} socket
 * @param {number} count
 */
function accepts(socket, count) {
  return owner === null || (belongsTo(socket) && hasRoom(count));
}

/** @param {number} count */
function hasRoom(count) {
  return words[LENGTH] + count <= stage.length;
}

/**
 * Copies bytes behind those that are staged; the owner must be `socket`, or nobody.
 *
 * @param {Connection} socket
 * @param {Uint8Array} data
 * @param {number} start
 * @param {number} count at most SMALL, and there is room for it
 */
function add(socket, data, start, count) {
  if (owner === null) words[LENGTH] = 0;
  owner = socket;
  words[OWNER] = socket._nativeId;
  append(count === sizeOf(data) ? data : part(data, start, count), count);
}

/**
 * Hot: the same for whoever has staged the last.
 *
 * @param {Uint8Array} bytes
 * @param {number} count how many they are; there is room for them
 */
function append(bytes, count) {
  const length = words[LENGTH];
  copyFrom.call(stage, bytes, length);
  copied += count;
  words[LENGTH] = length + count;
}

/**
 * Sends all that is staged and empties the stage; the requests stay.
 *
 * @returns {{ length: number, sent: number }} how many bytes there were, and how many the kernel
 *   took, or an error
 */
function send() {
  const length = words[LENGTH];
  const sent = open().sendStage();
  // Not before: near the limit of the stack the call may not have been made.
  owner = null;
  return { length, sent };
}

/** Empties the stage; the requests stay. */
function clear() {
  owner = null;
  words[LENGTH] = 0;
}

/**
 * A copy of bytes that were staged until now.
 *
 * @param {number} start
 * @param {number} end
 */
function copy(start, end) {
  copied += end - start;
  return Buffer.from(stage.subarray(start, end));
}

/**
 * The first `lengths[i]` bytes of each of `buffers`, `count` in all, as one buffer.
 *
 * @param {Uint8Array[]} buffers
 * @param {number[]} lengths
 * @param {number} count
 */
function join(buffers, lengths, count) {
  const joined = Buffer.allocUnsafe(count);
  let offset = 0;
  for (let i = 0; i < buffers.length; i++) {
    if (lengths[i] === sizeOf(buffers[i])) joined.set(buffers[i], offset);
    else joined.set(part(buffers[i], 0, lengths[i]), offset);
    offset += lengths[i];
  }
  copied += count;
  return joined;
}

/** How many bytes have been copied so far. */
function bytesCopied() {
  return copied;
}

module.exports = {
  SMALL,
  accepts,
  add,
  append,
  belongsTo,
  bytesCopied,
  clear,
  copy,
  currentOwner,
  hasRoom,
  isOf,
  join,
  length,
  requests,
  send,
};
