'use strict';

/** Bytes at the beginning of an answer that lie in a buffer of their own where there are two. */
const HEADER = 16;

/**
 * What a server is told on its command line.
 *
 * @typedef {object} Task
 * @property {number} port
 * @property {string} mode
 * @property {number} size bytes of a message; `echo` has no use for it
 * @property {number} reply bytes of its answer
 */

/**
 * Reads `port mode size reply` and ends with a usage message if they make no sense.
 *
 * @param {string[]} modes
 * @returns {Task}
 */
function readTask(modes) {
  const [port, mode = 'echo', size = '64', reply = size] = process.argv.slice(2);
  const task = { port: Number(port), mode, size: Number(size), reply: Number(reply) };
  const numbers = isIntegerIn(task.port, 1, 65535) && isIntegerIn(task.size, 1);
  if (!numbers || !isIntegerIn(task.reply, 1) || !modes.includes(mode)) {
    process.stderr.write(`Usage: node ${process.argv[1]} PORT ${modes.join('|')} SIZE [REPLY]\n`);
    process.exit(2);
  }
  return task;
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} [high]
 */
function isIntegerIn(value, low, high = 2 ** 24) {
  return Number.isInteger(value) && value >= low && value <= high;
}

/** Tells whoever started this server that it listens, and ends it together with them. */
function ready() {
  process.stdout.write('ready\n');
  process.on('disconnect', () => process.exit());
}

/**
 * The answer to a message: what the load generator expects with `--verify=reply`.
 *
 * @param {number} size
 */
function createReply(size) {
  const reply = Buffer.allocUnsafeSlow(size);
  for (let at = 0; at < size; at++) reply[at] = at ^ (at >> 8);
  return reply;
}

module.exports = { HEADER, readTask, ready, createReply };
