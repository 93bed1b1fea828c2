'use strict';

const assert = require('assert');
const path = require('path');
const { spawnSync } = require('child_process');
const { test } = require('node:test');
const oxwire = require('..');

const NAMES = [
  'Connection',
  'Server',
  'connect',
  'counters',
  'createServer',
  'pool',
  'setBusyPoll',
];

test('CommonJS has all names', () => {
  assert.deepStrictEqual(Object.keys(oxwire).sort(), NAMES);
});

test('ESM has all names, and the same things', async () => {
  const imported = await import('../index.js');
  for (const name of NAMES) assert.strictEqual(imported[name], oxwire[name]);
  assert.strictEqual(imported.default, oxwire);
});

test("where the event loop is not Node's own, another driver wakes the sockets", () => {
  const script = `
    const { connect, createServer } = require('.');
    Object.defineProperty(process.versions, 'bun', { value: '1.0.0' });
    const server = createServer((peer) => peer.write('hello', () => peer.close()));
    server.listen(0, '127.0.0.1', () => {
      connect(server.address().port).read(Buffer.alloc(9), (error, buffer, length) => {
        console.log(error, buffer.toString('utf8', 0, length));
        server.close();
      });
    });`;
  const unset = { ...process.env, OXWIRE_DRIVER: '' };
  assert.deepStrictEqual(run(script, unset), [0, 'null hello\n', '']);
  const [status, , stderr] = run(script, { ...process.env, OXWIRE_DRIVER: 'loop' });
  assert.strictEqual(status, 1);
  assert.match(stderr, /ERR_FEATURE_UNAVAILABLE_ON_PLATFORM/);
});

test('a driver that there is not is refused', () => {
  const script = `
    const { connect, counters, createServer } = require('.');
    for (const use of [() => connect(80), () => createServer().listen(), counters]) {
      try { use(); } catch (error) { console.log(error.code, error.message); }
    }`;
  const [status, stdout, stderr] = run(script, { ...process.env, OXWIRE_DRIVER: 'uring' });
  assert.deepStrictEqual([status, stderr], [0, '']);
  const line = `ERR_INVALID_ARG_VALUE The argument 'OXWIRE_DRIVER' must be "loop" or "tokio". Received 'uring'\n`;
  assert.strictEqual(stdout, line.repeat(3));
});

/**
 * @param {string} script
 * @param {NodeJS.ProcessEnv} env
 */
function run(script, env) {
  const cwd = path.join(__dirname, '..');
  const options = { cwd, env, encoding: /** @type {const} */ ('utf8'), timeout: 20_000 };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], options);
  return /** @type {const} */ ([status, stdout, stderr]);
}
