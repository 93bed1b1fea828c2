'use strict';

// The write stage: small writes of one socket in one turn are copied here, to leave together in one
// system call (lib/net/writing.js sends it). It belongs to one socket at a time. Who owns it and how
// much it holds stands in the shared memory too, so that the native half can send it when the
// environment is torn down.

const { stage, words } = require('./reactor.js');
const { Queue } = require('./request.js');
const { sizeOf } = require('./validate.js');

/** @typedef {import('./connection.js')} Connection */

/** The largest write that is staged, in bytes. */
const SMALL = 4096;
/** Up to this length a loop copies faster than a call. */
const TINY = 32;

const OWNER = 0;
const LENGTH = 1;

/** @type {Connection | null} */
let owner = null;
let length = 0;
let copied = 0;

/** The requests whose bytes are staged; a write without a callback has none. */
const requests = new Queue();

/** Whose bytes are staged. */
function currentOwner() {
  return owner;
}

/** How many bytes are staged. */
function currentLength() {
  return length;
}

/**
 * Whether `count` bytes of `socket` may be added as things are.
 *
 * @param {Connection} socket
 * @param {number} count
 */
function accepts(socket, count) {
  return owner === null || (owner === socket && hasRoom(count));
}

/** @param {number} count */
function hasRoom(count) {
  return length + count <= stage.length;
}

/**
 * Hot: copies bytes behind those that are staged; the owner must be `socket`, or nobody.
 *
 * @param {Connection} socket
 * @param {Uint8Array} data
 * @param {number} start
 * @param {number} count at most SMALL, and there is room for it
 */
function add(socket, data, start, count) {
  owner = socket;
  if (count <= TINY) for (let i = 0; i < count; i++) stage[length + i] = data[start + i];
  else if (count === sizeOf(data)) stage.set(data, length);
  else stage.set(data.subarray(start, start + count), length);
  length += count;
  copied += count;
  words[OWNER] = socket._id;
  words[LENGTH] = length;
}

/** Empties the stage; the requests stay with the caller. */
function clear() {
  owner = null;
  length = words[LENGTH] = 0;
}

/** A copy of the staged bytes from `start` on. @param {number} start */
function copyFrom(start) {
  copied += length - start;
  return Buffer.from(stage.subarray(start, length));
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
    else joined.set(buffers[i].subarray(0, lengths[i]), offset);
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
  bytesCopied,
  clear,
  copyFrom,
  currentLength,
  currentOwner,
  hasRoom,
  join,
  memory: stage,
  requests,
};
