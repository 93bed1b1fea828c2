'use strict';

// Wrong arguments are thrown, and change nothing.

const assert = require('assert');
const path = require('path');
const { spawnSync } = require('child_process');
const { test } = require('node:test');
const oxwire = require('../..');
const { closed, pair, readAll, turns } = require('../support/sockets');
const { CONNECTION_STATES } = require('../support/states');
const { Calls, leavesNothing } = require('../support/watch');

// What is thrown.
const TYPE = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
const VALUE = { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' };
const RANGE = { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' };
const ENCODING = { name: 'TypeError', code: 'ERR_UNKNOWN_ENCODING' };
const PORT = { name: 'RangeError', code: 'ERR_SOCKET_BAD_PORT' };

const NO_BUFFERS = [
  undefined,
  null,
  true,
  7,
  7n,
  Symbol('s'),
  {},
  [],
  () => {},
  new ArrayBuffer(4),
  new SharedArrayBuffer(4),
  new DataView(new ArrayBuffer(4)),
  new Uint8ClampedArray(4),
  new Uint16Array(4),
  new Float64Array(4),
  new Proxy(Buffer.alloc(4), {}),
  Object.create(Uint8Array.prototype),
  { length: 4, 0: 1, __proto__: Buffer.prototype },
];
const NO_FUNCTIONS = [true, 7, 7n, 'text', Symbol('s'), {}, [], Buffer.alloc(1)];
const NO_LENGTHS = [
  -1,
  -4096,
  5,
  4096,
  1.5,
  3.9999,
  NaN,
  Infinity,
  -Infinity,
  2 ** 31,
  2 ** 32 + 1,
];
const NO_NUMBERS = ['4', 'text', true, 4n, Symbol('s'), {}, [4], new Number(4)];

/**
 * Each wrong call on a connection, and what it throws.
 *
 * @param {any} connection
 * @param {(...args: any[]) => void} callback which is not called
 * @returns {[string, () => void, object][]}
 */
function wrongCalls(connection, callback) {
  /** @type {[string, () => void, object][]} */
  const calls = [];
  const four = Buffer.alloc(4);
  const two = [four, four];
  const add = (/** @type {object} */ expected, /** @type {string} */ method, ...args) =>
    calls.push([`${method}(${args.map(shown)})`, () => connection[method](...args), expected]);
  for (const wrong of NO_BUFFERS) {
    add(TYPE, 'read', wrong, callback);
    add(TYPE, 'write', wrong, callback);
    add(TYPE, 'write', wrong, 1, callback);
    add(TYPE, 'writev', [four, wrong], callback);
    if (!Array.isArray(wrong)) add(TYPE, 'writev', wrong, callback);
  }
  add(TYPE, 'read', 'text', callback);
  add(TYPE, 'writev', 'text', callback);
  add(TYPE, 'writev', ['text'], callback);
  add(TYPE, 'writev', new Array(3), callback);
  add(TYPE, 'read', four);
  add(TYPE, 'read', four, null);
  for (const wrong of NO_FUNCTIONS) {
    add(TYPE, 'read', four, wrong);
    add(TYPE, 'write', four, 4, {}, wrong);
    add(TYPE, 'write', 'text', 'utf8', {}, wrong);
    // In front of a callback any object stands for options.
    if (typeof wrong !== 'object') {
      add(TYPE, 'write', four, 4, wrong);
      add(TYPE, 'write', 'text', 'utf8', wrong);
    }
    add(TYPE, 'writev', two, [4, 4], wrong);
    add(TYPE, 'close', wrong);
    if (typeof wrong !== 'string' && !Buffer.isBuffer(wrong)) add(TYPE, 'end', wrong);
  }
  for (const wrong of NO_LENGTHS) {
    add(RANGE, 'write', four, wrong, callback);
    add(RANGE, 'writev', two, [4, wrong], callback);
  }
  for (const wrong of NO_NUMBERS) {
    add(TYPE, 'write', four, wrong, callback);
    add(TYPE, 'writev', two, [4, wrong], callback);
    if (!Array.isArray(wrong)) add(TYPE, 'writev', two, wrong, callback);
  }
  add(TYPE, 'writev', two, [4, undefined], callback);
  add(TYPE, 'writev', two, [4, null], callback);
  for (const wrong of [[], [4], [4, 4, 4], new Array(3)]) {
    add(VALUE, 'writev', two, wrong, callback);
  }
  for (const wrong of ['no-such-encoding', '', 4, {}, true]) {
    add(ENCODING, 'write', 'text', wrong, callback);
  }
  return calls;
}

/** @param {any} value */
function shown(value) {
  return typeof value === 'symbol'
    ? 'symbol'
    : `${typeof value} ${String(value?.constructor?.name)}`;
}

for (const [state, open] of Object.entries(CONNECTION_STATES)) {
  test(`wrong arguments ${state} are thrown, and nothing is told`, () =>
    leavesNothing(async (t) => {
      const connection = await open(t);
      let called = 0;
      const { closed: wasClosed, readable, writable } = connection;
      for (const [call, body, expected] of wrongCalls(connection, () => called++)) {
        assert.throws(body, expected, call);
      }
      if (!wasClosed)
        assert.deepStrictEqual([connection.readable, connection.writable], [readable, writable]);
      await turns();
      assert.strictEqual(called, 0);
      connection.destroy();
      if (!wasClosed && !connection.closed) await closed(connection);
      assert.strictEqual(called, 0);
    }));
}

test('after wrong arguments a connection goes on as if nothing had been', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t);
    for (const [, body] of wrongCalls(client, assert.fail)) assert.throws(body);
    const calls = new Calls();
    client.read(Buffer.alloc(8), calls.of('read'));
    client.write('right', calls.of('write'));
    client.end(calls.of('end'));
    assert.strictEqual((await readAll(peer)).toString(), 'right');
    peer.end();
    await calls.once();
  }));

test('wrong arguments do not keep the process alive', () => {
  const script = `
    const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
    const attempt = (body) => { try { body(); console.log('not thrown'); } catch {} };
    attempt(() => oxwire.connect(-1));
    attempt(() => oxwire.connect(80, 5));
    const server = oxwire.createServer(() => server.close());
    attempt(() => server.listen(-1));
    attempt(() => server.close('x'));
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      client.on('connect', () => {
        attempt(() => client.read('x', () => {}));
        attempt(() => client.read(Buffer.alloc(1), 'x'));
        attempt(() => client.write(Buffer.alloc(1), 2));
        attempt(() => client.writev([Buffer.alloc(1)], [2]));
        attempt(() => client.end(7));
        attempt(() => client.close('x'));
      });
    });`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    timeout: 20_000,
  });
  assert.deepStrictEqual([status, String(stdout), String(stderr)], [0, '', '']);
});

test('wrong arguments of connect, createServer and listen are thrown, and nothing is opened', () =>
  leavesNothing(async () => {
    const connect = /** @type {any} */ (oxwire.connect);
    const createServer = /** @type {any} */ (oxwire.createServer);
    const server = /** @type {any} */ (oxwire.createServer());
    for (const port of [-1, 65536, 83616, 1.5, 2 ** 40, -Infinity, 'http', '1x', '-1', true, 1n]) {
      assert.throws(() => connect(port), PORT, String(port));
      assert.throws(() => server.listen(port), PORT, String(port));
    }
    for (const port of [NaN, undefined, null, '', ' ', false, Symbol('s')]) {
      assert.throws(() => connect(port), PORT, String(port));
    }
    for (const host of [true, 7, 7n, Symbol('s')]) {
      assert.throws(() => connect(1, host), TYPE, shown(host));
    }
    for (const host of [true, 7n, Symbol('s'), []]) {
      assert.throws(() => server.listen(0, host), TYPE, shown(host));
    }
    for (const options of [true, 7, 'x', 7n, Symbol('s')]) {
      assert.throws(() => connect(1, 'localhost', options), TYPE, shown(options));
      assert.throws(() => createServer(options), TYPE, shown(options));
    }
    for (const callback of NO_FUNCTIONS) {
      if (typeof callback !== 'number') {
        assert.throws(() => server.listen(0, '127.0.0.1', callback), TYPE);
      }
      assert.throws(() => server.close(callback), TYPE);
      assert.throws(() => createServer(null, callback), TYPE);
    }
    assert.throws(() => server.address(), { code: 'ERR_SERVER_NOT_RUNNING' });
    await turns();
  }));

test('a port that is no number is no port', async (t) => {
  for (const port of [NaN, '', ' ', false]) {
    const server = /** @type {any} */ (oxwire.createServer());
    t.after(() => server.close());
    assert.throws(() => server.listen(port), PORT, String(port));
  }
});

test('a Connection of something that is no server is thrown', () => {
  const Connection = /** @type {any} */ (oxwire.Connection);
  for (const server of ['x', 7, true, {}, () => {}]) {
    assert.throws(() => new Connection(server), TYPE, shown(server));
  }
});

test('a Server with options that are none is thrown', () => {
  const Server = /** @type {any} */ (oxwire.Server);
  for (const options of ['x', 7, true]) assert.throws(() => new Server(options), TYPE);
});
