'use strict';

/** How many frames an end needs, and some more. */
const FRAMES = 128;

/**
 * Throws the RangeError of a stack that is too short for what ends a connection or a server: before
 * anything has changed, so that it can be tried again.
 */
function ensureStack(frames = FRAMES) {
  /** @type {unknown[]} */
  const room = [frames]; // Something that makes it a frame of some size.
  if (frames > 0) ensureStack(frames - 1);
  return room;
}

module.exports = { ensureStack };
