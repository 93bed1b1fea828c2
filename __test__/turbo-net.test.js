'use strict';

// turbo-net's own tests, as its package has them, against oxwire.

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { test } = require('node:test');
const { temporaryFolder } = require('./support/folders');

const ROOT = path.join(__dirname, '..');
const MODULES = path.join(ROOT, 'benchmark/node_modules');

test("turbo-net's own tests pass: 18 tests, 103 assertions", (t) => {
  const folder = temporaryFolder(t);
  // Its tests say require('../'), some in a child process.
  fs.writeFileSync(
    path.join(folder, 'index.js'),
    `module.exports = require(${JSON.stringify(ROOT)})`,
  );
  fs.cpSync(path.join(MODULES, 'turbo-net/test'), path.join(folder, 'test'), { recursive: true });
  const files = fs.readdirSync(path.join(folder, 'test')).map((file) => path.join('test', file));
  assert.strictEqual(files.length, 6);

  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(MODULES, 'tape/bin/tape'), ...files],
    { cwd: folder, env: { ...process.env, NODE_PATH: MODULES }, timeout: 60_000 },
  );
  const output = String(stdout);
  assert.strictEqual(status, 0, output + stderr);
  assert.match(output, /^# tests 103$/m);
  assert.match(output, /^# pass {2}103$/m);
  assert.doesNotMatch(output, /^not ok/m);
  const lines = output.split('\n').filter((line) => /^# (?!tests|pass|ok)/.test(line));
  assert.strictEqual(lines.length, 18);
});
