'use strict';

const assert = require('assert');
const { test } = require('node:test');
const oxwire = require('../..');

test('counters counts, from nothing', () => {
  const counters = oxwire.counters();
  for (const value of Object.values(counters)) assert.ok(Number.isSafeInteger(value) && value >= 0);
  assert.notStrictEqual(oxwire.counters(), counters);
});
