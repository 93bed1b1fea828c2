'use strict';

const assert = require('assert');
const { test } = require('node:test');
const oxwire = require('..');

const NAMES = ['Connection', 'Server', 'connect', 'counters', 'createServer'];

test('CommonJS has all names', () => {
  assert.deepStrictEqual(Object.keys(oxwire).sort(), NAMES);
});

test('ESM has all names, and the same things', async () => {
  const imported = await import('../index.js');
  for (const name of NAMES) assert.strictEqual(imported[name], oxwire[name]);
  assert.strictEqual(imported.default, oxwire);
});

test('counters counts, from nothing', () => {
  const counters = oxwire.counters();
  for (const value of Object.values(counters)) assert.ok(Number.isSafeInteger(value) && value >= 0);
  assert.notStrictEqual(oxwire.counters(), counters);
});
