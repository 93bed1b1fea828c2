'use strict';

const assert = require('assert');
const path = require('path');
const { spawnSync } = require('child_process');
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

test('where there are no sockets, using one says so', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      '-e',
      `const oxwire = require('.');
       Object.defineProperty(process.versions, 'bun', { value: '1.0.0' });
       const { connect, counters, createServer } = oxwire;
       for (const use of [() => connect(80), () => createServer().listen(), counters]) {
         try { use(); } catch (error) { console.log(error.code, error.message); }
       }`,
    ],
    { cwd: path.join(__dirname, '..'), encoding: 'utf8', timeout: 20_000 },
  );
  assert.deepStrictEqual([status, stderr], [0, '']);
  const lines = stdout.trim().split('\n');
  assert.strictEqual(lines.length, 3);
  for (const line of lines) {
    assert.match(line, /^ERR_FEATURE_UNAVAILABLE_ON_PLATFORM oxwire's sockets are not available/);
  }
});
