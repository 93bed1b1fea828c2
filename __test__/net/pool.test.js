'use strict';

const assert = require('assert');
const { test } = require('node:test');
const oxwire = require('../..');
const { closed, fill, pair, pairWithNode, read, readAll, turns } = require('../support/sockets');
const { until } = require('../support/watch');

const { pool } = oxwire;

/**
 * A read of the pool, as a promise.
 *
 * @param {import('../..').Connection} connection
 * @returns {Promise<{ error: Error | null, buffer: Buffer | null, count: number }>}
 */
function readPooled(connection) {
  return new Promise((resolve) => {
    connection.read(pool, (error, buffer, count) => resolve({ error, buffer, count }));
  });
}

test('a read of the pool has a buffer only when there are bytes', async (t) => {
  const { client, peer } = await pair(t);
  const before = pool.lent;
  const reading = readPooled(client);
  await turns();
  assert.strictEqual(pool.lent, before);
  peer.write('hello');
  const { error, buffer, count } = await reading;
  assert.strictEqual(error, null);
  assert.strictEqual(buffer?.toString('utf8', 0, count), 'hello');
  assert.strictEqual(buffer.length, pool.bufferSize);
  assert.strictEqual(pool.lent, before + 1);
  pool.release(buffer);
  assert.strictEqual(pool.lent, before);
});

test('what was released is used again', async (t) => {
  const { client, peer } = await pair(t);
  const seen = new Set();
  for (let i = 0; i < 100; i++) {
    peer.write(`message ${i}`);
    const { buffer, count } = await readPooled(client);
    assert.strictEqual(buffer?.toString('utf8', 0, count), `message ${i}`);
    seen.add(buffer.buffer);
    pool.release(buffer);
  }
  assert.strictEqual(seen.size, 1);
});

test('reads of the pool and of buffers stand in one queue', async (t) => {
  const { client, peer } = await pair(t);
  const own = Buffer.alloc(3);
  const order = [];
  const all = new Promise((resolve) => {
    client.read(own, (_error, buffer, count) => order.push(buffer.toString('utf8', 0, count)));
    client.read(pool, (_error, buffer, count) => {
      order.push(buffer?.toString('utf8', 0, count));
      if (buffer) pool.release(buffer);
    });
    client.read(own, (_error, buffer, count) => resolve(buffer.toString('utf8', 0, count)));
  });
  peer.write('abcdef');
  await turns();
  peer.write('ghi');
  assert.strictEqual(await all, 'ghi');
  assert.deepStrictEqual(order, ['abc', 'def']);
});

test('at the end, and with an error, there is no buffer and none is lost', async (t) => {
  const before = pool.lent;
  const ended = await pair(t);
  ended.peer.end();
  assert.deepStrictEqual(await readPooled(ended.client), { error: null, buffer: null, count: 0 });

  const reset = await pairWithNode(t);
  const reading = readPooled(reset.connection);
  reset.socket.resetAndDestroy();
  const failed = await reading;
  assert.strictEqual(/** @type {any} */ (failed.error).code, 'ECONNRESET');
  assert.strictEqual(failed.buffer, null);

  const given = await pair(t);
  const pending = readPooled(given.client);
  given.client.destroy();
  const gone = await pending;
  assert.strictEqual(/** @type {any} */ (gone.error).code, 'ERR_SOCKET_CLOSED');
  assert.strictEqual(gone.buffer, null);
  assert.strictEqual(pool.lent, before);
});

test('a write with release gives its buffer back by itself', async (t) => {
  const { client, peer } = await pair(t);
  const before = pool.lent;
  peer.read(pool, function onread(error, buffer, count) {
    if (error || buffer === null) return;
    peer.write(buffer, count, { release: true }, () => peer.read(pool, onread));
  });
  const sent = Buffer.alloc(1 << 20, 'abcdefghijk');
  client.write(sent);
  assert.ok((await readAll(client, sent.length)).equals(sent));
  await turns();
  assert.strictEqual(pool.lent, before);
});

test('a buffer whose write waits is kept until its bytes have left', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  buffer.fill('y');
  const filled = await fill(client);
  const before = pool.lent;
  let told = false;
  client.write(buffer, buffer.length, { release: true }, () => (told = true));
  await turns();
  assert.deepStrictEqual([told, pool.lent], [false, before]);
  await readAll(peer, filled);
  const last = await readAll(peer, buffer.length);
  assert.ok(last.equals(Buffer.alloc(buffer.length, 'y')));
  await turns();
  assert.deepStrictEqual([told, pool.lent], [true, before - 1]);
});

test('a write that fails gives its buffer back too, once', async (t) => {
  const { client, peer } = await pair(t);
  const before = pool.lent;
  const buffers = [];
  for (let i = 0; i < 3; i++) {
    peer.write('x');
    buffers.push(/** @type {Buffer} */ ((await readPooled(client)).buffer));
  }
  await fill(client);
  const codes = [];
  /** @param {any} error */
  const note = (error) => codes.push(error?.code);
  client.write(buffers[0], 65536, { release: true }, note);
  client.end();
  client.write(buffers[1], 65536, { release: true }, note);
  client.destroy();
  client.write(buffers[2], 65536, { release: true }, note);
  await closed(client);
  assert.deepStrictEqual(codes.sort(), [
    'ERR_STREAM_DESTROYED',
    'ERR_STREAM_DESTROYED',
    'ERR_STREAM_WRITE_AFTER_END',
  ]);
  assert.strictEqual(pool.lent, before);
  for (const buffer of buffers) assert.throws(() => pool.release(buffer));
});

test('what is not lent is refused, and so is releasing twice', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  const refused = { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' };
  for (const other of [undefined, null, 'x', {}, Buffer.alloc(65536), buffer.subarray(0, 5)]) {
    assert.throws(() => pool.release(/** @type {any} */ (other)), refused);
  }
  const own = Buffer.alloc(5);
  assert.throws(() => client.write(own, 5, { release: true }), refused);
  pool.release(buffer);
  assert.throws(() => pool.release(buffer), refused);
  assert.throws(() => client.write(buffer, 5, { release: true }), refused);
  assert.throws(() => client.write(own, 5, /** @type {any} */ (5)), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
  client.write('nothing of it was queued');
  assert.strictEqual(String(await read(peer)), 'nothing of it was queued');
});

test('a buffer that was detached while it was lent does not come back', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  structuredClone(buffer.buffer, { transfer: [/** @type {ArrayBuffer} */ (buffer.buffer)] });
  pool.release(buffer);
  peer.write('again');
  const next = await readPooled(client);
  assert.strictEqual(next.buffer?.toString('utf8', 0, next.count), 'again');
  pool.release(next.buffer);
});

test("a buffer that a write is to give back is not the program's any more", async (t) => {
  const { client, peer } = await pair(t);
  const before = pool.lent;
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  const filled = await fill(client);
  const told = /** @type {unknown[]} */ ([]);
  client.write(buffer, 65536, { release: true }, (error) => told.push(error));
  const notLent = { code: 'ERR_INVALID_ARG_VALUE', name: 'TypeError' };
  assert.throws(() => pool.release(buffer), notLent);
  assert.throws(
    () => client.write(buffer, 1, { release: true }, () => told.push('twice')),
    notLent,
  );
  assert.strictEqual(pool.lent, before + 1);
  await readAll(peer, filled + buffer.length);
  await until(() => told.length > 0);
  assert.deepStrictEqual([told, pool.lent], [[null], before]);
});

test('a buffer that was detached and is written with release is counted back', async (t) => {
  const { client, peer } = await pair(t);
  const before = pool.lent;
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  structuredClone(buffer.buffer, { transfer: [/** @type {ArrayBuffer} */ (buffer.buffer)] });
  const told = await new Promise((resolve) => {
    client.write(buffer, 1, { release: true }, resolve);
  });
  assert.strictEqual(told.code, 'ERR_INVALID_STATE');
  assert.strictEqual(pool.lent, before);
});

test('a buffer is given back when all its writes on the connection have left', async (t) => {
  const { client, peer } = await pair(t);
  const other = await pair(t);
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  buffer.fill('a');
  const filled = await fill(client);
  const before = pool.lent;
  client.write(buffer, buffer.length);
  client.write(buffer, 0, { release: true });
  other.peer.write(Buffer.alloc(1000, 'b'));
  const stranger = await readPooled(other.client);
  assert.notStrictEqual(stranger.buffer, buffer);
  pool.release(/** @type {Buffer} */ (stranger.buffer));
  await readAll(peer, filled);
  assert.ok((await readAll(peer, buffer.length)).equals(Buffer.alloc(buffer.length, 'a')));
  await until(() => pool.lent === before - 1);
  assert.strictEqual(pool.lent, before - 1);
});

test('what only looks like a lent buffer is refused', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  const before = pool.lent;
  for (const fake of [new Proxy(buffer, {}), Object.create(buffer), { ...buffer }]) {
    assert.throws(() => pool.release(fake), { code: 'ERR_INVALID_ARG_VALUE' });
  }
  assert.strictEqual(pool.lent, before);
  pool.release(buffer);
});

test('a buffer that is detached after it was given back is not handed out', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  pool.release(buffer);
  structuredClone(buffer.buffer, { transfer: [/** @type {ArrayBuffer} */ (buffer.buffer)] });
  peer.write('y');
  const { error, buffer: next, count } = await readPooled(client);
  assert.strictEqual(error, null);
  assert.strictEqual(next?.toString('utf8', 0, count), 'y');
  pool.release(next);
});

test('a write with release says how much: all of a pooled buffer is never meant', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('x');
  const { buffer } = await readPooled(client);
  assert.ok(buffer);
  for (const length of [undefined, null, 'utf8']) {
    assert.throws(() => client.write(buffer, /** @type {any} */ (length), { release: true }), {
      code: 'ERR_INVALID_ARG_TYPE',
    });
  }
  pool.release(buffer);
});
