'use strict';

const { spawn } = require('child_process');

/**
 * @typedef {import('./cores').Command} Command
 * @typedef {import('child_process').ChildProcess} ChildProcess
 */

const KEPT_OUTPUT = 4000;

/** @type {Set<Child>} */
const running = new Set();

/** A process that this one has started, with the end of what it complained about. */
class Child {
  /**
   * @param {Command} command
   * @param {object} [options]
   * @param {boolean} [options.tethered] whether it is a Node program, to be told when this process
   *   is gone
   * @param {NodeJS.ProcessEnv} [options.env] variables that it has besides those of this process
   */
  constructor([program, ...args], { tethered = false, env = {} } = {}) {
    this.errors = '';
    this.output = '';
    /** @type {string | null} how it ended */
    this.ending = null;
    this.process = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', ...(tethered ? /** @type {['ipc']} */ (['ipc']) : [])],
    });
    running.add(this);
    this.process.stdout?.on('data', (chunk) => (this.output += chunk));
    this.process.stderr?.on('data', (chunk) => {
      this.errors = (this.errors + chunk).slice(-KEPT_OUTPUT);
    });
    /** @type {Promise<void>} */
    this.ended = new Promise((resolve) => {
      const finish = (/** @type {string} */ ending) => {
        this.ending ??= ending;
        running.delete(this);
        resolve();
      };
      this.process.on('error', (error) => finish(error.message));
      // Not 'exit': its output may still be on the way then.
      this.process.on('close', (code, signal) => {
        finish(signal ? `ended by ${signal}` : `exit code ${code}`);
      });
    });
  }

  get pid() {
    return /** @type {number} */ (this.process.pid);
  }

  kill() {
    if (running.has(this)) this.process.kill('SIGKILL');
  }

  /**
   * What went wrong, with the program's own words.
   *
   * @param {string} what
   */
  failure(what) {
    const errors = this.errors.trim();
    return new Error(`${what}: ${this.ending ?? 'still running'}${errors && `\n${errors}`}`);
  }
}

/** Ends every process that was started here and still runs. */
function killAll() {
  for (const child of running) child.kill();
}

process.on('exit', killAll);

module.exports = { Child, killAll };
