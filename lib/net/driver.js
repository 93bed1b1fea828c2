'use strict';

// Which of the two drivers wakes the sockets of this environment: Node's event loop, in which the
// reactor's descriptor stands, or a thread of the tokio runtime, where the loop can't (semantics
// 20). The variable OXWIRE_DRIVER chooses one of them.

const errors = require('../errors.js');

/** The value of the variable for each. */
const LOOP = 'loop';
const TOKIO = 'tokio';

/** @returns {'loop' | 'tokio' | undefined} the one that was asked for */
function demanded() {
  const name = process.env.OXWIRE_DRIVER;
  if (name === undefined || name === '') return undefined;
  if (name !== LOOP && name !== TOKIO) {
    throw errors.invalidArgValue('OXWIRE_DRIVER', `must be "${LOOP}" or "${TOKIO}"`, name);
  }
  return name;
}

/** Whether the loop is libuv's. Other runtimes have stubs under its names, some of which abort. */
function isNode() {
  return process.release.name === 'node' && !process.versions.bun && !('deno' in process.versions);
}

/**
 * Opens the reactor with the driver that fits.
 *
 * @template T
 * @param {(inLoop: boolean) => T | number} openWith
 * @param {number} missing what it gives where there is no such driver
 * @returns {{ inLoop: boolean, opened: T | number }}
 */
function open(openWith, missing) {
  const driver = demanded();
  if (driver === LOOP && !isNode()) {
    throw errors.unsupported(
      'OXWIRE_DRIVER asks for the event loop of Node.js, and this is another',
    );
  }
  if (driver !== TOKIO && isNode()) {
    const opened = openWith(true);
    if (opened !== missing || driver === LOOP) return { inLoop: true, opened };
  }
  return { inLoop: false, opened: openWith(false) };
}

module.exports = { open };
