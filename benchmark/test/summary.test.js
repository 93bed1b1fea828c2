'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { spread } = require('../lib/stats');
const { summarize } = require('../lib/summary');

/**
 * @param {number} cost
 * @param {number} speed
 * @returns {import('../lib/slice').Sample}
 */
function sample(cost, speed) {
  return {
    seconds: 1,
    bytesPerSecond: speed,
    messagesPerSecond: speed / 64,
    p50Us: null,
    p99Us: null,
    cpuSecondsPerMessage: cost,
    cpuSecondsPerGB: cost * 2,
    serverCpuShare: 1,
    serverWaitShare: 0,
    clientCpuShare: 0.5,
    peakRssBytes: 1024,
  };
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
  );
  const twice = { median: 2, low: 2, high: 2 };
  assert.equal(subject, 'ours');
  assert.deepEqual(ratios, [
    { peer: 'theirs', cpuPerMessage: twice, cpuPerGB: twice, throughput: twice },
  ]);
});

test('a figure that was never measured has no spread', () => {
  const { servers } = summarize(new Map([['ours', [sample(1, 1)]]]));
  assert.equal(servers.ours.p50Us, null);
  assert.deepEqual(servers.ours.peakRssBytes, { median: 1024, low: 1024, high: 1024 });
});
