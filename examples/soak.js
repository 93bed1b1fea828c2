'use strict';

// All that sockets can do, again and again, and a look at what is left after each round: memory and
// descriptors must not grow.
//
//   node examples/soak.js
//   node examples/soak.js --seconds 600

const fs = require('node:fs');
const v8 = require('node:v8');
const vm = require('node:vm');
const { parseArgs } = require('node:util');
const { pool } = require('oxwire');
const { workloads } = require('./soak/workloads');

/** A workload that takes longer than this hangs. In milliseconds. */
const LIMIT = 30_000;
/** How many rounds there are at least. */
const MIN_ROUNDS = 6;

v8.setFlagsFromString('--expose-gc');
const collectGarbage = /** @type {() => void} */ (vm.runInNewContext('gc'));

/** What is left after a round. */
const MEASURES = [
  { name: 'descriptors', unit: '', of: descriptors, slack: 0 },
  {
    name: 'JavaScript heap',
    unit: ' MB',
    of: () => process.memoryUsage().heapUsed / 1e6,
    slack: 2,
  },
  { name: 'buffers', unit: ' MB', of: () => process.memoryUsage().arrayBuffers / 1e6, slack: 2 },
  { name: 'resident', unit: ' MB', of: () => process.memoryUsage.rss() / 1e6, slack: 24 },
  { name: 'pool, lent', unit: '', of: () => pool.lent, slack: 0 },
];

/** Where the system shows descriptors, how many are open. */
function descriptors() {
  try {
    return fs.readdirSync('/dev/fd').length;
  } catch {
    return 0;
  }
}

/**
 * Runs a workload and says which it was if it fails, or does not end.
 *
 * @param {() => Promise<unknown>} workload
 */
async function run(workload) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const hangs = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${LIMIT / 1000} s`)), LIMIT);
  });
  try {
    await Promise.race([workload(), hangs]);
  } catch (error) {
    throw new Error(`the workload "${workload.name}" failed`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** What there is now, after all garbage has gone. */
async function measure() {
  // Finalizers run in a later turn, and may leave garbage themselves.
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collectGarbage();
  }
  return MEASURES.map(({ of }) => of());
}

/**
 * Values as bars, from nothing to the largest.
 *
 * @param {number[]} values
 */
function sparkline(values) {
  const room = 32;
  const step = Math.max(1, values.length / room);
  const most = Math.max(...values, 1);
  let line = '';
  for (let at = 0; at < values.length; at += step) {
    line += '▁▂▃▄▅▆▇█'[Math.round((values[Math.floor(at)] / most) * 7)];
  }
  return line;
}

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

async function main() {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error('--seconds takes a number above 0');
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  const live = process.stdout.isTTY === true && process.env.TERM !== 'dumb';
  /** @type {number[][]} */
  const rounds = [];
  let shown = 0;
  while (elapsed() < seconds || rounds.length < MIN_ROUNDS) {
    await Promise.all(workloads.map(run));
    rounds.push(await measure());
    if (live || elapsed() - shown >= 1) {
      shown = elapsed();
      const now = MEASURES.map(
        ({ name, unit }, i) => `${name} ${rounds.at(-1)?.[i].toFixed(0)}${unit}`,
      );
      const line = `${shown.toFixed(0).padStart(4)} s  round ${rounds.length}  ${now.join(', ')}`;
      process.stdout.write(
        live ? `\r${line.slice(0, (process.stdout.columns || 80) - 1)}\x1b[K` : `${line}\n`,
      );
    }
  }
  if (live) process.stdout.write('\r\x1b[K');

  // First caches fill, and code is compiled. Then the first third is compared with the last.
  const judged = rounds.slice(Math.ceil(rounds.length / 3));
  const third = Math.floor(judged.length / 3);
  let grew = false;
  process.stdout.write(
    `${rounds.length} rounds of ${workloads.length} workloads in ${elapsed().toFixed(0)} s. ` +
      'What was left after a round,\nonce the first third had warmed up, and in the end:\n\n',
  );
  MEASURES.forEach(({ name, unit, slack }, i) => {
    const series = judged.map((round) => round[i]);
    const [first, last] = [median(series.slice(0, third)), median(series.slice(-third))];
    const bad = last - first > slack;
    grew ||= bad;
    const numbers = `${first.toFixed(1).padStart(8)} ${last.toFixed(1).padStart(8)}${unit.padEnd(3)}`;
    process.stdout.write(
      `  ${name.padEnd(16)}${numbers} ${bad ? 'GREW' : '    '} ${sparkline(series)}\n`,
    );
  });
  process.stdout.write(grew ? '\nSomething grew.\n' : '\nNothing grew.\n');
  if (grew) process.exitCode = 1;
}

main().catch((error) => {
  // A wrong option needs no stack; a failed workload does.
  console.error(error.cause ? error : `soak: ${error.message}\nusage: node soak.js [--seconds N]`);
  process.exit(1);
});
