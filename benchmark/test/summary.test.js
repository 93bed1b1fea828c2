'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { spread } = require('../harness/stats');
const { summarize } = require('../harness/summary');
const { UNITS } = require('../harness/units');

/**
 * @param {number} cost
 * @param {number} speed
 */
function sample(cost, speed) {
  return { cpuSecondsPerMessage: cost, messagesPerSecond: speed, p50Us: null, peakRssBytes: 1024 };
}

test('quartiles lie between the values next to them', () => {
  assert.deepEqual(spread([4, 1, 3, 2]), { median: 2.5, low: 1.75, high: 3.25 });
  assert.deepEqual(spread([7]), { median: 7, low: 7, high: 7 });
});

test('a ratio pairs the slices of a cycle, so that a slow cycle cancels out', () => {
  const { subject, ratios } = summarize(
    new Map([
      ['ours', [sample(1, 100), sample(5, 20), sample(2, 50)]],
      ['theirs', [sample(2, 50), sample(10, 10), sample(4, 25)]],
    ]),
    UNITS.message,
  );
  const twice = { median: 2, low: 2, high: 2 };
  assert.equal(subject, 'ours');
  assert.deepEqual(ratios, [{ peer: 'theirs', cost: twice, speed: twice }]);
});

test('a figure that was never measured has no spread', () => {
  const { peers } = summarize(new Map([['ours', [sample(1, 1)]]]), UNITS.message);
  assert.equal(peers.ours.p50Us, null);
  assert.deepEqual(peers.ours.peakRssBytes, { median: 1024, low: 1024, high: 1024 });
});

test('memory is a cost that comes with no speed', () => {
  const samples = new Map([
    ['ours', [{ peakRssBytes: 2 }]],
    ['theirs', [{ peakRssBytes: 6 }]],
  ]);
  const thrice = { median: 3, low: 3, high: 3 };
  assert.deepEqual(summarize(samples, UNITS.memory).ratios, [
    { peer: 'theirs', cost: thrice, speed: null },
  ]);
});
