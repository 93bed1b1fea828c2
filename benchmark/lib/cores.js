'use strict';

const { spawnSync } = require('child_process');
const os = require('os');

const SERVER_CORE = 0;
const LOAD_CORE = 1;

/**
 * A program and its arguments.
 *
 * @typedef {[string, ...string[]]} Command
 */

/** Whether servers and load generator can each have a core of their own. */
function canPin() {
  if (os.cpus().length < 2) return false;
  return [SERVER_CORE, LOAD_CORE].every(
    (core) => spawnSync('taskset', ['-c', String(core), 'true']).status === 0,
  );
}

/**
 * @param {Command} command
 * @param {number} core
 * @returns {Command}
 */
function pinnedTo(command, core) {
  return ['taskset', '-c', String(core), ...command];
}

module.exports = { SERVER_CORE, LOAD_CORE, canPin, pinnedTo };
