'use strict';

const assert = require('assert');
const net = require('net');
const vm = require('vm');
const { once } = require('events');
const { test } = require('node:test');
const { Worker } = require('worker_threads');
const oxwire = require('../..');
const { errnoOf } = require('../support/errno');
const {
  closed,
  freePort,
  listen,
  logEvents,
  pair,
  pairWithNode,
  read,
  readAll,
  turns,
} = require('../support/sockets');

test('a read gives its own buffer back with what has arrived', async (t) => {
  const { client, peer } = await pair(t);
  const buffer = Buffer.alloc(100);
  peer.write(Buffer.from('hello'));
  await new Promise((resolve) => {
    client.read(buffer, (error, given, count) => {
      assert.strictEqual(error, null);
      assert.strictEqual(given, buffer);
      assert.strictEqual(count, 5);
      assert.strictEqual(buffer.toString('latin1', 0, 5), 'hello');
      resolve(undefined);
    });
  });
});

test('any Uint8Array can be read into, also one within a larger buffer', async (t) => {
  const { client, peer } = await pair(t);
  peer.write(Buffer.from([1, 2, 3]));
  const whole = new Uint8Array(8);
  const part = whole.subarray(2, 6);
  await new Promise((resolve) => {
    client.read(part, (error, given, count) => {
      assert.strictEqual(error, null);
      assert.strictEqual(given, part);
      assert.strictEqual(count, 3);
      resolve(undefined);
    });
  });
  assert.deepStrictEqual([...whole], [0, 0, 1, 2, 3, 0, 0, 0]);
});

test('shared memory, and views of another realm, are as good as any', async (t) => {
  const { client, peer } = await pair(t);
  const shared = new Uint8Array(new SharedArrayBuffer(8));
  const foreign = vm.runInNewContext('new Uint8Array([104, 105])');
  peer.write(foreign);
  peer.writev([shared.fill(33), foreign], [1, 2]);
  assert.strictEqual((await readAll(client, 5)).toString(), 'hi!hi');
  peer.write('x');
  await new Promise((resolve) => {
    client.read(shared, (error, _given, count) =>
      resolve(assert.deepStrictEqual([error, count], [null, 1])),
    );
  });
  assert.strictEqual(shared[0], 120);
});

test('reads queued together complete in order', async (t) => {
  const { client, peer } = await pair(t);
  const seen = [];
  const all = new Promise((resolve) => {
    for (let i = 0; i < 11; i++) {
      client.read(Buffer.alloc(1), (error, buffer) => {
        assert.strictEqual(error, null);
        seen.push(buffer[0]);
        if (i === 10) resolve(undefined);
      });
    }
  });
  peer.write(Buffer.from('hello world'));
  await all;
  assert.strictEqual(Buffer.from(seen).toString(), 'hello world');
});

test('the buffer does not change before its callback, even while data waits', async (t) => {
  const { client, peer } = await pair(t);
  const buffer = Buffer.alloc(16);
  let called = false;
  client.read(buffer, () => (called = true));
  peer.write(Buffer.from('data'));
  // The data is in the kernel by now; nothing may move it while JavaScript is busy.
  const until = performance.now() + 20;
  while (performance.now() < until) assert.strictEqual(buffer[0], 0);
  await turns();
  assert.ok(called);
  assert.strictEqual(buffer[0], 'd'.charCodeAt(0));
});

test('one buffer queued for two reads shows each callback its own data', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  const buffer = Buffer.alloc(4);
  const seen = [];
  const both = new Promise((resolve) => {
    connection.read(buffer, (_error, given, count) =>
      seen.push(given.toString('latin1', 0, count)),
    );
    connection.read(buffer, (_error, given, count) => {
      seen.push(given.toString('latin1', 0, count));
      resolve(undefined);
    });
  });
  socket.write('onestwos');
  await both;
  assert.deepStrictEqual(seen, ['ones', 'twos']);
});

test('the end is 0 for every read, also for later ones', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  const counts = [];
  const events = logEvents(client);
  client.read(Buffer.alloc(4), (error, _buffer, count) => counts.push([error, count]));
  client.read(Buffer.alloc(4), (error, _buffer, count) => counts.push([error, count]));
  peer.end();
  await once(client, 'end');
  assert.deepStrictEqual(counts, [
    [null, 0],
    [null, 0],
  ]);
  assert.strictEqual(client.ended, true);
  assert.strictEqual(client.readable, false);
  assert.strictEqual(client.writable, true, 'our side is still open');
  assert.strictEqual((await read(client)).length, 0);
  assert.deepStrictEqual(events, ['end']);
});

test('bytes and the end in one edge are both delivered', async (t) => {
  for (const size of [1, 16, 65536]) {
    const { connection, socket } = await pairWithNode(t);
    socket.end('last words');
    await turns(); // Both have arrived: the kernel tells of them at once.
    assert.strictEqual((await readAll(connection, size)).toString(), 'last words'.slice(0, size));
    assert.strictEqual((await readAll(connection)).toString(), 'last words'.slice(size));
    assert.ok(connection.ended);
  }
});

test('the end comes after a read that its data filled exactly', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  socket.end('12345678');
  assert.strictEqual((await read(connection, 8)).toString(), '12345678');
  assert.strictEqual((await read(connection, 8)).length, 0);
});

test('bytes that came before a reset are delivered first', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  await new Promise((resolve) => socket.write('before', resolve));
  socket.resetAndDestroy();
  await turns();
  assert.strictEqual((await read(connection, 3)).toString(), 'bef');
  assert.strictEqual((await read(connection, 100)).toString(), 'ore');
  const errno = errnoOf('ECONNRESET');
  await assert.rejects(read(connection), { code: 'ECONNRESET', syscall: 'read', errno });
});

test('a reset is an error of the pending read, and never an end', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  const events = logEvents(connection);
  const pending = read(connection);
  socket.resetAndDestroy();
  await assert.rejects(pending, {
    code: 'ECONNRESET',
    syscall: 'read',
    message: 'read ECONNRESET',
  });
  await turns();
  assert.deepStrictEqual(events, ['close'], 'the callback took the error');
  assert.strictEqual(connection.ended, false);
});

test('a reset without a pending operation is told to the next one', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  const events = logEvents(connection);
  socket.resetAndDestroy();
  await turns();
  assert.deepStrictEqual(events, []);
  assert.strictEqual(connection.readable, true);
  await assert.rejects(read(connection), { code: 'ECONNRESET' });
  await turns();
  assert.deepStrictEqual(events, ['close']);
});

/**
 * A connection to a peer in a thread of its own, which resets it while this thread is blocked.
 *
 * @param {import('node:test').TestContext} t
 */
async function connectToResetter(t) {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const script = `
    const { parentPort, workerData: flag } = require('worker_threads');
    const server = require('net').createServer((socket) => {
      server.close();
      socket.on('error', () => {});
      socket.once('readable', () => socket.write('last words', () => {
        socket.resetAndDestroy();
        setTimeout(() => {
          Atomics.store(flag, 0, 1);
          Atomics.notify(flag, 0);
        }, 20);
      }));
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(script, { eval: true, workerData: flag });
  t.after(() => worker.terminate());
  const [port] = await once(worker, 'message');
  const connection = oxwire.connect(port);
  await once(connection, 'connect');
  return { connection, blockUntilReset: () => Atomics.wait(flag, 0, 0, 5000) };
}

test('a write that meets the reset does not swallow the bytes before it', async (t) => {
  for (const operation of ['waiting write', 'write', 'end']) {
    const { connection, blockUntilReset } = await connectToResetter(t);
    const log = [];
    const over = closed(connection);
    for (const event of ['end', 'error', 'close']) connection.on(event, () => log.push(event));
    connection.read(Buffer.alloc(100), function onread(error, buffer, count) {
      log.push(error ? `read ${error.code}` : `read ${buffer.toString('latin1', 0, count)}`);
      if (!error && count > 0) connection.read(buffer, onread);
    });
    const onwrite = (error) => error && log.push('failed');
    connection.write(Buffer.alloc(operation === 'waiting write' ? 32 << 20 : 1), onwrite);
    blockUntilReset();
    if (operation === 'write') connection.write('x', onwrite);
    if (operation === 'end') connection.end(onwrite);
    await over;
    assert.deepStrictEqual(
      [log.filter((entry) => entry !== 'failed'), log.length, log.at(-1)],
      [['read last words', 'read ECONNRESET', 'close'], 4, 'close'],
      `${operation}: ${log}`,
    );
  }
});

test('an empty read does not swallow the reset', async (t) => {
  const { connection, blockUntilReset } = await connectToResetter(t);
  const results = [];
  const read = (size) =>
    connection.read(Buffer.alloc(size), (error, _buffer, count) =>
      results.push(error?.code ?? count),
    );
  connection.write('x');
  blockUntilReset();
  for (const size of [0, 100, 0, 100]) read(size);
  await closed(connection);
  assert.deepStrictEqual(results, ['ERR_INVALID_ARG_VALUE', 10, 'ECONNRESET', 'ECONNRESET']);
});

test('a read that fails is told before a later one that succeeds', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('hello');
  await turns();
  const log = [];
  client.read(Buffer.alloc(0), (error) => log.push(error?.code));
  await new Promise((resolve) => {
    client.read(Buffer.alloc(8), (_error, _buffer, count) => {
      log.push(count);
      resolve(undefined);
    });
  });
  assert.deepStrictEqual(log, ['ERR_INVALID_ARG_VALUE', 5]);
});

test('an empty buffer reads 0 at the end, and is an error before it', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  const first = [];
  client.read(Buffer.alloc(4), () => first.push('read'));
  const empty = read(client, 0);
  await turns();
  assert.deepStrictEqual(first, [], 'it waits its turn');
  peer.write('x');
  await assert.rejects(empty, { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
  assert.deepStrictEqual(first, ['read']);
  await assert.rejects(read(client, 0), { code: 'ERR_INVALID_ARG_VALUE' });
  peer.write('more');
  assert.strictEqual((await read(client)).toString(), 'more', 'the connection goes on');
  peer.end();
  await turns();
  assert.strictEqual((await read(client, 0)).length, 0);
  assert.ok(client.ended);
});

test('a buffer that is detached while lent is an error, and nothing is written', async (t) => {
  const { client, peer } = await pair(t);
  const buffer = Buffer.from(new ArrayBuffer(16));
  const pending = new Promise((resolve) => client.read(buffer, (...result) => resolve(result)));
  const owner = Buffer.from(structuredClone(buffer.buffer, { transfer: [buffer.buffer] }));
  peer.write('secret');
  const [error, given, count] = await pending;
  assert.strictEqual(error.code, 'ERR_INVALID_STATE');
  assert.strictEqual(given, buffer);
  assert.strictEqual(count, 0);
  assert.ok(owner.every((byte) => byte === 0));
  assert.strictEqual((await read(client)).toString(), 'secret', 'nothing is lost');
});

test('a buffer that shrinks while lent gets what it has room for', async (t) => {
  const { client, peer } = await pair(t);
  // @ts-expect-error Newer than the library of types.
  const memory = new ArrayBuffer(16, { maxByteLength: 16 });
  const view = new Uint8Array(memory);
  const pending = new Promise((resolve) => client.read(view, (...result) => resolve(result)));
  // @ts-expect-error The same.
  memory.resize(3);
  peer.write('abcdef');
  const [error, , count] = await pending;
  assert.strictEqual(error, null);
  assert.strictEqual(count, 3);
  assert.strictEqual((await read(client)).toString(), 'def');
});

test('isPaused says what it says in node:net', () => {
  const seen = [new oxwire.Connection(), new net.Socket()].map((socket) => [
    socket.isPaused(),
    socket.pause().isPaused(),
    socket.pause().isPaused(),
    socket.resume().isPaused(),
    socket.resume().isPaused(),
    socket.pause().isPaused(),
    socket.destroy().isPaused(),
  ]);
  assert.deepStrictEqual(seen[0], [false, true, true, false, false, true, true]);
  assert.deepStrictEqual(seen[0], seen[1]);
});

test('a paused connection receives nothing, and its reads wait for resume', async (t) => {
  const { client, peer } = await pair(t);
  const log = [];
  client.pause();
  const before = oxwire.counters().recv;
  for (const name of ['first', 'second']) {
    client.read(Buffer.alloc(3), (_error, buffer) => log.push(`${name} ${buffer}`));
  }
  peer.write('foobar');
  await turns();
  assert.deepStrictEqual([log, client.bytesRead], [[], 0]);
  assert.strictEqual(oxwire.counters().recv, before);
  client.resume();
  assert.deepStrictEqual(log, [], 'not within the call');
  while (log.length < 2) await turns(1);
  assert.deepStrictEqual(log, ['first foo', 'second bar']);
});

test('pause within the callback of a read holds back the next one', async (t) => {
  const { client, peer } = await pair(t);
  const log = [];
  const first = new Promise((resolve) => {
    client.read(Buffer.alloc(3), (_error, buffer) =>
      resolve(log.push(String(buffer), client.pause())),
    );
  });
  client.read(Buffer.alloc(3), (_error, buffer) => log.push(String(buffer)));
  peer.write('foobar');
  await first;
  await turns();
  assert.deepStrictEqual(log, ['foo', client]);
  client.resume();
  while (log.length < 3) await turns(1);
  assert.strictEqual(log[2], 'bar');
});

test('pause before the connection, or after its bytes have come, holds as well', async (t) => {
  const server = await listen(t);
  const client = oxwire.connect(server.address().port);
  assert.strictEqual(client.pause(), client);
  let count = 0;
  client.read(Buffer.alloc(8), () => count++);
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  peer.pause();
  peer.read(Buffer.alloc(8), () => count++);
  client.write('x');
  peer.write('y');
  await turns();
  assert.strictEqual(count, 0);
  client.resume().pause();
  peer.resume().pause();
  await turns();
  assert.strictEqual(count, 0, 'resume holds for a turn at least');
  client.resume();
  peer.resume();
  while (count < 2) await turns(1);
  client.destroy();
});

test('a read that is queued while paused waits too, though bytes are there', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('first second');
  assert.strictEqual((await read(client, 6)).toString(), 'first ');
  client.pause();
  let text = '';
  client.read(Buffer.alloc(16), (_error, buffer, count) => {
    text = buffer.toString('latin1', 0, count);
  });
  await turns();
  assert.strictEqual(text, '');
  client.resume();
  while (text === '') await turns(1);
  assert.strictEqual(text, 'second');
});

test('pause holds back the end, and the bytes before it', async (t) => {
  const { client, peer } = await pair(t);
  const log = logEvents(client);
  client.pause();
  client.read(Buffer.alloc(8), (_error, _buffer, count) => log.push(`read ${count}`));
  client.read(Buffer.alloc(8), (_error, _buffer, count) => log.push(`read ${count}`));
  peer.write('last');
  peer.end();
  await turns();
  assert.deepStrictEqual([log, client.ended], [[], false]);
  client.resume();
  await closed(client);
  assert.deepStrictEqual(log, ['read 4', 'read 0', 'end', 'finish', 'close']);
});

test('pause holds back a reset until resume; a write hears of it before', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  const log = logEvents(connection);
  connection.pause();
  connection.read(Buffer.alloc(8), (error) => log.push(`read ${error?.code}`));
  socket.resetAndDestroy();
  await turns();
  assert.deepStrictEqual(log, []);
  connection.write('x', (error) => log.push(`write ${error?.code}`));
  while (log.length === 0) await turns(1);
  await turns();
  assert.match(log.join(), /^write (ECONNRESET|EPIPE)$/);
  connection.resume();
  await closed(connection);
  assert.deepStrictEqual(log.slice(1), ['read ECONNRESET', 'close']);
});

test('a paused connection can be closed, and its reads are told', async (t) => {
  for (const method of ['close', 'destroy', 'resetAndDestroy']) {
    const { client } = await pair(t);
    const log = [];
    client.pause();
    client.read(Buffer.alloc(8), (error) => log.push(error?.code));
    client[method]();
    client.read(Buffer.alloc(8), (error) => log.push(error?.code));
    await closed(client);
    assert.deepStrictEqual(log, ['ERR_SOCKET_CLOSED', 'ERR_SOCKET_CLOSED']);
    assert.strictEqual(client.resume(), client);
  }
});

test('pause concerns reads alone', async (t) => {
  const { client, peer } = await pair(t);
  client.pause();
  client.write('x');
  client.end();
  assert.strictEqual((await readAll(peer)).toString(), 'x');
  peer.end();
  await closed(client); // Nobody reads, and nothing is left to be read.
});

test('a refused connection tells its reads though they wait', async () => {
  const client = oxwire.connect(await freePort());
  client.on('error', () => {});
  client.pause();
  await assert.rejects(read(client), { code: 'ECONNREFUSED' });
});

test('bytesRead counts what was received, and stays', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  assert.strictEqual(connection.bytesRead, 0);
  socket.write('hello world');
  await readAll(connection, 4);
  assert.strictEqual(connection.bytesRead, 4, 'what waits in the system is not received yet');
  await readAll(connection, 7);
  assert.strictEqual(connection.bytesRead, 11);
  socket.end();
  assert.strictEqual((await read(connection)).length, 0);
  connection.destroy();
  await closed(connection);
  assert.deepStrictEqual([connection.bytesRead, socket.bytesWritten], [11, 11]);
});

test('wrong arguments are thrown', async (t) => {
  const { client } = await pair(t);
  const wrong = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  for (const buffer of [
    undefined,
    null,
    'text',
    16,
    {},
    [],
    new ArrayBuffer(4),
    new Uint16Array(4),
  ]) {
    assert.throws(() => client.read(/** @type {any} */ (buffer), () => {}), wrong);
  }
  for (const callback of [undefined, null, 'x', {}]) {
    assert.throws(() => client.read(Buffer.alloc(1), /** @type {any} */ (callback)), wrong);
  }
});

test('every byte of a large transfer arrives in its place', async (t) => {
  const { client, peer } = await pair(t);
  const sent = Buffer.alloc(5_000_011);
  for (let i = 0; i < sent.length; i++) sent[i] = (i * 2654435761) >>> 24;
  peer.write(sent);
  peer.end();
  assert.ok((await readAll(client)).equals(sent));
});

test('what is more than is received at once comes with the next reads', async (t) => {
  const { client, peer } = await pair(t);
  const size = 3 << 20;
  client.write(Buffer.alloc(size, 'x'));
  client.end();
  const buffer = Buffer.alloc(size);
  let total = 0;
  let largest = 0;
  await new Promise((resolve, reject) => {
    peer.read(buffer, function onread(error, _buffer, count) {
      if (error) return reject(error);
      total += count;
      largest = Math.max(largest, count);
      if (count > 0) peer.read(buffer, onread);
      else resolve(undefined);
    });
  });
  assert.strictEqual(total, size);
  assert.ok(largest <= 512 * 1024, `${largest} at once`);
});
