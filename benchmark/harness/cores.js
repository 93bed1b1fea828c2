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

/**
 * Why servers and load generator cannot each have a core of their own; undefined where they can.
 *
 * @returns {string | undefined}
 */
function whyNotPinned() {
  if (os.cpus().length < 2) return 'this machine has one core, which all processes share';
  for (const core of [SERVER_CORE, LOAD_CORE]) {
    const { error, status } = spawnSync('taskset', ['-c', String(core), 'true']);
    if (error) return 'there is no program "taskset" to pin processes to cores';
    if (status !== 0) return `processes may not run on core ${core} here`;
  }
  return undefined;
}

/**
 * @param {Command} command
 * @param {number} core
 * @returns {Command}
 */
function pinnedTo(command, core) {
  return ['taskset', '-c', String(core), ...command];
}

module.exports = { SERVER_CORE, LOAD_CORE, whyNotPinned, pinnedTo };
