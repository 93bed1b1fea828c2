'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { measureInTurns } = require('../harness/turns');

const SCENARIO = {
  name: 'any',
  description: '',
  unit: /** @type {const} */ ('message'),
  peers: [{ name: 'A' }, { name: 'B' }],
};
const SETTINGS = { cycles: 5, seconds: 1, warmup: 0, pinned: false };
const PROGRESS = /** @type {any} */ ({ step() {}, show() {}, clear() {} });

/**
 * A suite that logs what is done.
 *
 * @param {string[]} log
 * @param {number} [fails] the slice that fails
 */
function logging(log, fails = Infinity) {
  let slices = 0;
  return {
    scenarios: [SCENARIO],
    prepare() {},
    async start(/** @type {unknown} */ _scenario, /** @type {{ name: string }} */ { name }) {
      log.push(`+${name}`);
      const measure = async () => {
        if (slices === fails) throw new Error('failed');
        log.push(name);
        return { slice: slices++ };
      };
      return { name, measure, stop: async () => void log.push(`-${name}`) };
    },
  };
}

test('slices are taken forth and back, and every two cycles from new processes', async () => {
  /** @type {string[]} */
  const log = [];
  const samples = await measureInTurns(logging(log), SCENARIO, SETTINGS, PROGRESS);
  const two = '+A +B A B B A -A -B';
  assert.equal(log.join(' '), `${two} ${two} +A +B A B -A -B`);
  const slices = Object.fromEntries(samples);
  assert.deepEqual(
    slices.A.map(({ slice }) => slice),
    [0, 3, 4, 7, 8],
  );
  assert.deepEqual(
    slices.B.map(({ slice }) => slice),
    [1, 2, 5, 6, 9],
  );
});

test('where a slice fails all are stopped', async () => {
  /** @type {string[]} */
  const log = [];
  const run = measureInTurns(logging(log, 5), SCENARIO, SETTINGS, PROGRESS);
  await assert.rejects(run, /failed/);
  assert.equal(log.slice(-3).join(' '), 'A -A -B');
});
