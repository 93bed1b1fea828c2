'use strict';

// What is run in other runtimes holds in Node, with each driver.

const assert = require('assert');
const path = require('path');
const { spawnSync } = require('child_process');
const { test } = require('node:test');

const RUN = path.join(__dirname, 'run.js');

for (const driver of ['loop', 'tokio']) {
  const skip = driver === 'loop' && process.platform === 'win32' && 'there it is another driver';
  test(`the traffic for other runtimes passes in Node, driver ${driver}`, { skip }, () => {
    const env = { ...process.env, OXWIRE_DRIVER: driver };
    const { status, stdout, stderr } = spawnSync(process.execPath, [RUN], { env });
    assert.strictEqual(status, 0, String(stdout) + stderr);
  });
}
