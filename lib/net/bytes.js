'use strict';

// Views as they are, whatever their properties say and whatever class they are of. What is copied
// goes out to a peer.

const { Uint8Array } = globalThis;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);

/** @param {string} name */
const getter = (name) =>
  /** @type {() => any} */ (Object.getOwnPropertyDescriptor(typedArray, name)?.get);

const lengthOf = getter('length');
const bufferOf = getter('buffer');
const offsetOf = getter('byteOffset');

/**
 * How many bytes a view has.
 *
 * @param {Uint8Array} view
 * @returns {number}
 */
function sizeOf(view) {
  return lengthOf.call(view);
}

/**
 * Whether the memory of a view that has no bytes was taken away: then it is not an empty one.
 *
 * @param {Uint8Array} view
 */
function isGone(view) {
  try {
    typedArray.at.call(view, 0); // It refuses a view that is detached or out of bounds.
    return false;
  } catch {
    return true;
  }
}

/**
 * `count` bytes of a view, from `start` on.
 *
 * @param {Uint8Array} view
 * @param {number} start
 * @param {number} count
 * @returns {Uint8Array}
 */
function part(view, start, count) {
  return new Uint8Array(bufferOf.call(view), offsetOf.call(view) + start, count);
}

module.exports = { isGone, part, sizeOf };
