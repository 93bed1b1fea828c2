'use strict';

const assert = require('node:assert/strict');
const os = require('node:os');
const { test } = require('node:test');
const { whyNotPinned } = require('../harness/cores');
const { summarize } = require('../harness/summary');
const { formatSummary } = require('../harness/table');
const { UNITS } = require('../harness/units');

test('a table has the figures that were measured, and no columns for others', () => {
  const scenario = {
    name: 'idle-2',
    description: 'two connections',
    unit: /** @type {const} */ ('memory'),
    peers: [],
  };
  const samples = new Map([
    ['ours', [{ peakRssBytes: 2 ** 20, serverWaitShare: 0.5 }]],
    ['theirs', [{ peakRssBytes: 3 * 2 ** 20, serverWaitShare: 0.07 }]],
  ]);
  assert.equal(
    formatSummary(scenario, summarize(samples, UNITS.memory)),
    `idle-2: two connections

                  peak MiB
  ours    1.00 [1.00–1.00]
  theirs  3.00 [3.00–3.00]

                             less memory
  ours against theirs  3.00× [3.00–3.00]

  Servers waited 7 % of the time for their core: the machine is busy, expect noise.
`,
  );
});

test('where processes cannot be pinned there is a reason', (t) => {
  const { PATH } = process.env;
  t.after(() => (process.env.PATH = PATH));
  process.env.PATH = '';
  const reason = os.cpus().length < 2 ? /one core/ : /no program "taskset"/;
  assert.match(String(whyNotPinned()), reason);
});
