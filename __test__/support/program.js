'use strict';

// Programs in processes of their own.

const path = require('path');
const { spawn } = require('child_process');
const { once } = require('events');

const ROOT = JSON.stringify(path.join(__dirname, '../..'));

/**
 * Runs a program in which `oxwire` is there, and says how it ended. One that does not end is killed.
 *
 * @param {string} program
 * @param {{ flags?: string[], descriptors?: number, onstart?: (child: import('child_process').ChildProcess) => void }} [options]
 *   `flags` of Node; `descriptors` is how many the process may have, where there is a shell
 */
async function run(program, { flags = [], descriptors, onstart } = {}) {
  const script = `const oxwire = require(${ROOT});\n${program}`;
  const command = [process.execPath, ...flags, '-e', script];
  if (descriptors !== undefined) {
    command.unshift('sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$@"`);
  }
  const child = spawn(command[0], command.slice(1), { timeout: 20_000, killSignal: 'SIGKILL' });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  onstart?.(child);
  const [status, signal] = await once(child, 'close');
  return { status, signal, stdout, stderr };
}

/**
 * Does something so many times, some at once.
 *
 * @param {number} count
 * @param {number} atOnce
 * @param {(number: number) => Promise<unknown>} body
 */
async function repeat(count, atOnce, body) {
  let next = 0;
  const lane = async () => {
    while (next < count) await body(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

module.exports = { ROOT, repeat, run };
