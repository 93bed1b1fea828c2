'use strict';

const { readFileSync } = require('fs');

/**
 * @typedef {object} Tally
 * @property {number} bytes that came back to the client since the start
 */

/**
 * Lets what is under way warm up, measures it for a while, prints the figures as a line of JSON, and
 * ends the process. Both times are on the command line, in seconds.
 *
 * @param {Tally} tally
 */
function report(tally) {
  const [warmup, seconds] = process.argv.slice(2).map(Number);
  if (!(warmup >= 0 && seconds > 0)) {
    process.stderr.write(`Usage: node ${process.argv[1]} WARMUP SECONDS\n`);
    process.exit(2);
  }
  process.on('disconnect', () => process.exit());
  setTimeout(() => {
    const before = snapshot(tally);
    setTimeout(() => {
      const after = snapshot(tally);
      const bytes = after.bytes - before.bytes;
      const elapsed = after.time - before.time;
      const cpu = after.cpu - before.cpu;
      if (bytes === 0) {
        process.stderr.write('nothing came back\n');
        process.exit(1);
      }
      const figures = {
        seconds: elapsed,
        bytesPerSecond: bytes / elapsed,
        cpuSecondsPerGB: cpu / (bytes / 1e9),
        cpuShare: cpu / elapsed,
        peakRssBytes: peakMemory(),
      };
      process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit());
    }, seconds * 1e3);
  }, warmup * 1e3);
}

/** @param {Tally} tally */
function snapshot({ bytes }) {
  const { user, system } = process.cpuUsage();
  return { bytes, time: performance.now() / 1e3, cpu: (user + system) / 1e6 };
}

/** Not `maxRSS`, in which a process inherits the peak of the one that has started it. */
function peakMemory() {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

module.exports = { report };
