'use strict';

const { spawnSync } = require('node:child_process');

const { root } = require('./paths');

/**
 * Runs a command and waits for it. `npm` is a batch file on Windows and needs a shell there;
 * no argument in `scripts/` has a space in it.
 *
 * @param {string[]} command the program and its arguments
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
function spawn([program, ...args], options) {
  const inShell = process.platform === 'win32' && program === 'npm';
  const settings = { cwd: root, shell: inShell, maxBuffer: 1 << 28, ...options };
  return inShell
    ? spawnSync([program, ...args].join(' '), settings)
    : spawnSync(program, args, settings);
}

/**
 * Runs a command whose output the user sees.
 *
 * @param {string[]} command
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 * @returns {boolean} whether it succeeded
 */
function show(command, options) {
  return spawn(command, { stdio: 'inherit', ...options }).status === 0;
}

/**
 * Runs a command and keeps its output.
 *
 * @param {string[]} command
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 * @returns {{ ok: boolean, stdout: string, output: string }} `output` is both streams, or why the
 * program did not start
 */
function capture(command, options) {
  const { status, error, stdout, stderr } = spawn(command, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  if (error) return { ok: false, stdout: '', output: `${command[0]}: ${error.message}\n` };
  return { ok: status === 0, stdout: `${stdout}`, output: `${stdout}${stderr}` };
}

/**
 * Runs a command that must succeed.
 *
 * @param {string[]} command
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 * @returns {string} what it printed
 */
function run(command, options) {
  const { ok, stdout, output } = capture(command, options);
  if (!ok) throw new Error(`\`${command.join(' ')}\` failed:\n${output}`);
  return stdout;
}

module.exports = { show, capture, run };
