'use strict';

// Arguments, and what they stand for. Each check throws Node's error.

const { isUint8Array } = require('util/types');
const errors = require('../errors.js');

/**
 * @param {string} name
 * @param {unknown} value
 */
function buffer(name, value) {
  if (!isUint8Array(value)) {
    throw errors.invalidArgType(name, 'an instance of Buffer or Uint8Array', value);
  }
}

/** @param {unknown} value what is no string */
function data(value) {
  if (!isUint8Array(value)) {
    const expected = 'of type string or an instance of Buffer or Uint8Array';
    throw errors.invalidArgType('data', expected, value);
  }
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
 * Buffers, and how much of each.
 *
 * @param {unknown} buffers
 * @param {unknown} lengths
 * @returns {number[]} `lengths`, or those of the buffers where there are none
 */
function slices(buffers, lengths) {
  if (!Array.isArray(buffers)) {
    throw errors.invalidArgType('buffers', 'an array of Buffer or Uint8Array', buffers);
  }
  for (let i = 0; i < buffers.length; i++) buffer(`buffers[${i}]`, buffers[i]);
  if (lengths === undefined || lengths === null) return buffers.map((item) => item.length);
  if (!Array.isArray(lengths)) {
    throw errors.invalidArgType('lengths', 'an array of numbers', lengths);
  }
  if (lengths.length !== buffers.length) {
    throw errors.invalidArgValue(
      'lengths',
      `must have one length for each of the ${buffers.length} buffers. Received ${lengths.length}`,
    );
  }
  for (let i = 0; i < buffers.length; i++) length(`lengths[${i}]`, lengths[i], buffers[i].length);
  return lengths;
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

module.exports = { buffer, callback, data, encoding, host, length, optionalCallback, port, slices };
