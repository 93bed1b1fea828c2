'use strict';

// Arguments, and what they stand for. Each check throws Node's error.

const { ADDRCONFIG, ALL, V4MAPPED } = require('dns');
const { isUint8Array } = require('util/types');
const errors = require('../errors.js');
const { isGone, sizeOf } = require('./bytes.js');
const { pool } = require('./pool.js');

/** The longest time that a timer takes, in milliseconds, and the largest integer of the system. */
const MAX_TIME = 2 ** 31 - 1;
const MAX_INT = 2 ** 31 - 1;

/** What dns.lookup takes. */
const HINTS = ADDRCONFIG | ALL | V4MAPPED;

/**
 * @param {string} name
 * @param {unknown} value
 * @param {string} [expected]
 * @returns {number} its size
 */
function buffer(name, value, expected = 'an instance of Buffer or Uint8Array') {
  if (!isUint8Array(value)) throw errors.invalidArgType(name, expected, value);
  return sizeOf(value);
}

/**
 * @param {unknown} value
 * @param {string} [name]
 */
function callback(value, name = 'callback') {
  if (typeof value !== 'function') throw errors.invalidArgType(name, 'of type function', value);
}

/**
 * @template {Function} F
 * @param {F | null | undefined} value
 * @param {string} [name]
 * @returns {F | null}
 */
function optionalCallback(value, name) {
  if (value === undefined || value === null) return null;
  callback(value, name);
  return value;
}

/**
 * How much of `size` bytes.
 *
 * @param {string} name
 * @param {unknown} value
 * @param {number} size
 */
function length(name, value, size) {
  if (typeof value !== 'number') {
    const isOptions = name === 'length' && typeof value === 'object';
    const expected = isOptions ? 'of type number; options come third' : 'of type number';
    throw errors.invalidArgType(name, expected, value);
  }
  if (!(Number.isInteger(value) && value >= 0 && value <= size)) {
    throw errors.outOfRange(
      name,
      `an integer >= 0 and <= ${size}, the length of the buffer`,
      value,
    );
  }
}

/**
 * How much of `size` bytes where no length was given: all. As in node:net an encoding may be, which
 * says nothing of bytes.
 *
 * @param {unknown} value
 * @param {number} size
 */
function noLength(value, size) {
  const isEncoding = typeof value === 'string' && Buffer.isEncoding(value);
  if (value !== undefined && value !== null && !isEncoding) length('length', value, size);
  return size;
}

/**
 * Buffers, and how much of each; both as arrays that nobody else can change.
 *
 * @param {unknown} buffers
 * @param {unknown} lengths by default those of the buffers
 * @returns {{ buffers: Uint8Array[], lengths: number[], total: number, gone: boolean }} `gone` is
 *   whether the memory of one was taken away
 */
function slices(buffers, lengths) {
  if (!Array.isArray(buffers)) {
    throw errors.invalidArgType('buffers', 'an array of Buffer or Uint8Array', buffers);
  }
  if (lengths !== undefined && lengths !== null && !Array.isArray(lengths)) {
    throw errors.invalidArgType('lengths', 'an array of numbers', lengths);
  }
  const given = Array.isArray(lengths) ? [...lengths] : [];
  const own = { buffers: [...buffers], lengths: given, total: 0, gone: false };
  if (lengths && own.lengths.length !== own.buffers.length) {
    const count = `${own.buffers.length} buffers. Received ${own.lengths.length}`;
    throw errors.invalidArgValue('lengths', `must have one length for each of the ${count}`);
  }
  for (let i = 0; i < own.buffers.length; i++) {
    const size = buffer(`buffers[${i}]`, own.buffers[i]);
    if (size === 0 && isGone(own.buffers[i])) {
      own.gone = true;
      continue;
    }
    if (lengths) length(`lengths[${i}]`, own.lengths[i], size);
    else own.lengths.push(size);
    own.total += own.lengths[i];
  }
  return own;
}

/**
 * A port, as a number or in digits.
 *
 * @param {unknown} value
 * @param {string} [name]
 * @returns {number}
 */
function port(value, name = 'Port') {
  const isText = typeof value === 'string' && value.trim() !== '';
  const number = isText || typeof value === 'number' ? Number(value) : -1;
  if (!Number.isInteger(number) || number < 0 || number > 65535) throw errors.badPort(name, value);
  return number;
}

/**
 * @param {unknown} value
 * @returns {BufferEncoding}
 */
function encoding(value) {
  if (value === undefined || value === null) return 'utf8';
  if (typeof value !== 'string' || !Buffer.isEncoding(value)) {
    throw errors.unknownEncoding(value);
  }
  return value;
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function string(name, value) {
  if (typeof value !== 'string') throw errors.invalidArgType(name, 'of type string', value);
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {number}
 */
function number(name, value) {
  if (typeof value !== 'number') throw errors.invalidArgType(name, 'of type number', value);
  return value;
}

/**
 * A time in milliseconds, at most the longest that a timer takes.
 *
 * @param {string} name
 * @param {unknown} value
 */
function time(name, value) {
  const time = number(name, value);
  if (!(time >= 0 && time < Infinity)) {
    throw errors.outOfRange(name, 'a non-negative finite number', value);
  }
  return Math.min(time, MAX_TIME);
}

/**
 * How many connections may wait.
 *
 * @param {unknown} value
 */
function backlog(value) {
  const count = number('backlog', value);
  if (!Number.isInteger(count) || count < 0 || count > MAX_INT) {
    throw errors.outOfRange('backlog', `an integer >= 0 and <= ${MAX_INT}`, value);
  }
  return count;
}

/**
 * A family of addresses.
 *
 * @param {unknown} value
 * @returns {0 | 4 | 6}
 */
function family(value) {
  if (value === undefined || value === null || value === 0) return 0;
  if (value === 4 || value === 'IPv4') return 4;
  if (value === 6 || value === 'IPv6') return 6;
  throw errors.invalidArgValue('options.family', "must be one of: 0, 4, 6, 'IPv4', 'IPv6'", value);
}

/**
 * Flags for a lookup.
 *
 * @param {unknown} value
 * @param {boolean} any whether there may be others than those of dns.lookup
 */
function hints(value, any) {
  const flags = number('options.hints', value);
  if (!any && (flags & ~HINTS) !== 0) throw errors.invalidArgValue('hints', 'is invalid', value);
  return flags;
}

/** @param {unknown} value */
function signal(value) {
  if (value === undefined) return;
  const listens = /** @type {any} */ (value)?.addEventListener;
  const forgets = /** @type {any} */ (value)?.removeEventListener;
  const isOne = typeof value === 'object' && value !== null && 'aborted' in value;
  if (!isOne || typeof listens !== 'function' || typeof forgets !== 'function') {
    throw errors.invalidArgType('options.signal', 'an instance of AbortSignal', value);
  }
}

/**
 * The options of a write: whether its buffer goes back to the pool.
 *
 * @param {unknown} value
 * @param {unknown} data
 */
function release(value, data) {
  options(value);
  const { release } = /** @type {{ release?: unknown }} */ (value);
  if (release && !pool.isLent(data)) throw errors.notLent();
  return Boolean(release);
}

/** @param {unknown} value */
function options(value) {
  if (value !== undefined && value !== null && typeof value !== 'object') {
    throw errors.invalidArgType('options', 'of type object', value);
  }
}

module.exports = {
  backlog,
  buffer,
  callback,
  encoding,
  family,
  hints,
  length,
  noLength,
  number,
  optionalCallback,
  options,
  port,
  release,
  signal,
  slices,
  string,
  time,
};
