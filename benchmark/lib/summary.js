'use strict';

const { spread } = require('./stats');

/**
 * @typedef {import('./stats').Spread} Spread
 * @typedef {import('./slice').Sample} Sample
 *
 * @typedef {object} Ratios
 * @property {string} peer
 * @property {Spread} cpuPerMessage how many times as much the peer needs
 * @property {Spread} cpuPerGB how many times as much the peer needs
 * @property {Spread} throughput how many times as much the subject does
 *
 * @typedef {object} Summary
 * @property {Record<string, Record<keyof Sample, Spread | null>>} servers
 * @property {string} subject the server that the others are compared with
 * @property {Ratios[]} ratios above 1 wherever the subject is the better one
 */

/**
 * Medians and quartiles of a scenario. A ratio is taken within each cycle, whose slices lie next to
 * each other in time, and only then is its median taken: what slows a whole cycle cancels out.
 *
 * @param {Map<string, Sample[]>} samples
 * @returns {Summary}
 */
function summarize(samples) {
  const [[subject, own], ...others] = samples;
  return {
    servers: Object.fromEntries([...samples].map(([name, list]) => [name, describe(list)])),
    subject,
    ratios: others.map(([peer, theirs]) => {
      const paired = (/** @type {(own: Sample, other: Sample) => number} */ ratio) =>
        spread(own.map((sample, cycle) => ratio(sample, theirs[cycle])));
      return {
        peer,
        cpuPerMessage: paired((a, b) => b.cpuSecondsPerMessage / a.cpuSecondsPerMessage),
        cpuPerGB: paired((a, b) => b.cpuSecondsPerGB / a.cpuSecondsPerGB),
        throughput: paired((a, b) => a.bytesPerSecond / b.bytesPerSecond),
      };
    }),
  };
}

/**
 * @param {Sample[]} samples
 * @returns {Record<keyof Sample, Spread | null>}
 */
function describe(samples) {
  const keys = /** @type {(keyof Sample)[]} */ (Object.keys(samples[0]));
  /** @type {[keyof Sample, Spread | null][]} */
  const entries = keys.map((key) => {
    const values = samples.map((sample) => sample[key]).filter((value) => value !== null);
    return [key, values.length > 0 ? spread(values) : null];
  });
  return /** @type {Record<keyof Sample, Spread | null>} */ (Object.fromEntries(entries));
}

module.exports = { summarize };
