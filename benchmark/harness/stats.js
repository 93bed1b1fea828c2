'use strict';

/**
 * The middle of a sample and the range that holds its middle half.
 *
 * @typedef {object} Spread
 * @property {number} median
 * @property {number} low first quartile
 * @property {number} high third quartile
 */

/**
 * @param {number[]} values at least one
 * @returns {Spread}
 */
function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
  };
}

/**
 * Interpolates between the two nearest values.
 *
 * @param {number[]} sorted
 * @param {number} share
 */
function quantile(sorted, share) {
  const rank = (sorted.length - 1) * share;
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  return below + (above - below) * (rank - Math.floor(rank));
}

module.exports = { spread };
