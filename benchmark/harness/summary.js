'use strict';

const { spread } = require('./stats');

/**
 * @typedef {import('./stats').Spread} Spread
 * @typedef {import('./turns').Sample} Sample
 * @typedef {import('./units').Unit} Unit
 *
 * @typedef {object} Ratios above 1 wherever the subject is the better one
 * @property {string} peer
 * @property {Spread} cost how many times as much the peer needs
 * @property {Spread | null} speed how many times as much the subject does
 *
 * @typedef {object} Summary
 * @property {Record<string, Record<string, Spread | null>>} peers
 * @property {string} subject the one that the others are compared with
 * @property {Ratios[]} ratios
 */

/**
 * Medians and quartiles of a scenario. A ratio is taken within each cycle, whose slices lie next to
 * each other in time, and only then is its median taken: what slows a whole cycle cancels out.
 *
 * @param {Map<string, Sample[]>} samples
 * @param {Unit} unit
 * @returns {Summary}
 */
function summarize(samples, { cost, speed }) {
  const [[subject, own], ...others] = samples;
  return {
    peers: Object.fromEntries([...samples].map(([name, list]) => [name, describe(list)])),
    subject,
    ratios: others.map(([peer, theirs]) => ({
      peer,
      cost: ratio(theirs, own, cost.key),
      speed: speed ? ratio(own, theirs, speed.key) : null,
    })),
  };
}

/**
 * @param {Sample[]} over
 * @param {Sample[]} under
 * @param {string} key of a figure that every sample has
 */
function ratio(over, under, key) {
  return spread(over.map((sample, cycle) => Number(sample[key]) / Number(under[cycle][key])));
}

/** @param {Sample[]} samples */
function describe(samples) {
  /** @type {[string, Spread | null][]} */
  const entries = Object.keys(samples[0]).map((key) => {
    const values = samples.map((sample) => sample[key]).filter((value) => value !== null);
    return [key, values.length > 0 ? spread(values) : null];
  });
  return Object.fromEntries(entries);
}

module.exports = { summarize };
