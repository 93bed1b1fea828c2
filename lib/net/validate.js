'use strict';

// Arguments, and what they stand for. Each check throws Node's error.

const { isUint8Array } = require('util/types');
const errors = require('../errors.js');
const { sizeOf } = require('./bytes.js');

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

/** @param {unknown} value */
function callback(value) {
  if (typeof value !== 'function') {
    throw errors.invalidArgType('callback', 'of type function', value);
  }
}

/**
 * @template {Function} F
 * @param {F | null | undefined} value
 * @returns {F | null}
 */
function optionalCallback(value) {
  if (value === undefined || value === null) return null;
  callback(value);
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
  if (typeof value !== 'number') throw errors.invalidArgType(name, 'of type number', value);
  if (!(Number.isInteger(value) && value >= 0 && value <= size)) {
    throw errors.outOfRange(
      name,
      `an integer >= 0 and <= ${size}, the length of the buffer`,
      value,
    );
  }
}

/**
 * Buffers, and how much of each; both as arrays that nobody else can change.
 *
 * @param {unknown} buffers
 * @param {unknown} lengths by default those of the buffers
 * @returns {{ buffers: Uint8Array[], lengths: number[], total: number }}
 */
function slices(buffers, lengths) {
  if (!Array.isArray(buffers)) {
    throw errors.invalidArgType('buffers', 'an array of Buffer or Uint8Array', buffers);
  }
  if (lengths !== undefined && lengths !== null && !Array.isArray(lengths)) {
    throw errors.invalidArgType('lengths', 'an array of numbers', lengths);
  }
  const own = { buffers: [...buffers], lengths: lengths ? [...lengths] : [], total: 0 };
  if (lengths && own.lengths.length !== own.buffers.length) {
    const count = `${own.buffers.length} buffers. Received ${own.lengths.length}`;
    throw errors.invalidArgValue('lengths', `must have one length for each of the ${count}`);
  }
  for (let i = 0; i < own.buffers.length; i++) {
    const size = buffer(`buffers[${i}]`, own.buffers[i]);
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
 * @returns {number}
 */
function port(value) {
  const isText = typeof value === 'string' && value.trim() !== '';
  const number = isText || typeof value === 'number' ? Number(value) : -1;
  if (!Number.isInteger(number) || number < 0 || number > 65535) throw errors.badPort(value);
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
function host(name, value) {
  if (typeof value !== 'string') throw errors.invalidArgType(name, 'of type string', value);
}

module.exports = {
  buffer,
  callback,
  encoding,
  host,
  length,
  optionalCallback,
  port,
  slices,
};
