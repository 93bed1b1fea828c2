'use strict';

const assert = require('assert');
const net = require('net');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const {
  closed,
  fill,
  listen,
  logEvents,
  pair,
  pairWithNode,
  read,
  readAll,
  turn,
  turns,
  write,
} = require('../support/sockets');
const { Calls, leavesNothing } = require('../support/watch');

/** A view that lies about its length. */
class Liar extends Uint8Array {
  get length() {
    return 4000;
  }
}

test('a write gives its own buffer back, and its length', async (t) => {
  const { client, peer } = await pair(t);
  const buffer = Buffer.from('hello world');
  const results = [];
  client.write(buffer, (...result) => results.push(result));
  client.write(buffer, 5, (...result) => results.push(result));
  client.write(buffer, undefined, (...result) => results.push(result));
  assert.strictEqual((await readAll(peer, 27)).toString(), 'hello worldhellohello world');
  await turns(2);
  assert.deepStrictEqual(
    results.map(([error, , length]) => [error, length]),
    [
      [null, 11],
      [null, 5],
      [null, 11],
    ],
  );
  assert.ok(results.every(([, given]) => given === buffer));
});

test('strings are written in UTF-8 or the encoding given', async (t) => {
  const { client, peer } = await pair(t);
  const results = [];
  client.write('héllo', (...result) => results.push(result));
  client.write('héllo', 'latin1', (...result) => results.push(result));
  client.write('f00d', 'hex');
  client.end();
  const expected = [
    Buffer.from('héllo'),
    Buffer.from('héllo', 'latin1'),
    Buffer.from('f00d', 'hex'),
  ];
  assert.deepStrictEqual(await readAll(peer), Buffer.concat(expected));
  assert.deepStrictEqual(results, [
    [null, 'héllo', 6],
    [null, 'héllo', 5],
  ]);
});

test('nothing is written for a length of 0, in its place', async (t) => {
  const { client, peer } = await pair(t);
  const order = [];
  client.write('a', () => order.push('a'));
  client.write(Buffer.from('never'), 0, (error, _given, length) => {
    assert.strictEqual(error, null);
    order.push(length);
  });
  client.write('', () => order.push('empty'));
  client.write(Buffer.alloc(0), () => order.push('none'));
  client.write('b', () => order.push('b'));
  client.end();
  assert.strictEqual((await readAll(peer)).toString(), 'ab');
  assert.deepStrictEqual(order, ['a', 0, 'empty', 'none', 'b']);
});

test('wrong arguments are thrown, and nothing is queued', async (t) => {
  const { client, peer } = await pair(t);
  const wrong = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  const anyWrite = /** @type {any} */ (client.write.bind(client));
  for (const data of [undefined, null, 1, {}, ['a'], new ArrayBuffer(4), new Uint16Array(4)]) {
    assert.throws(() => anyWrite(data), wrong);
  }
  assert.throws(() => anyWrite('x', null, 'no function'), wrong);
  assert.throws(() => anyWrite('x', 'no-such-encoding'), { code: 'ERR_UNKNOWN_ENCODING' });
  const four = Buffer.alloc(4);
  for (const length of [-1, 5, 4096, 1.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => anyWrite(four, length), { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
  }
  assert.throws(() => anyWrite(four, '4'), wrong);
  client.end();
  assert.strictEqual((await readAll(peer)).length, 0);
});

test('what follows a write does not change what the peer gets', async (t) => {
  const { client, peer } = await pair(t);
  const buffer = Buffer.from('first');
  client.write(buffer); // Goes out at once.
  buffer.fill('-');
  const second = Buffer.from('second');
  client.write(second); // Is staged.
  second.fill('-');
  assert.strictEqual((await readAll(peer, 11)).toString(), 'firstsecond');
});

test('callbacks of writes come in order, never within the call', async (t) => {
  const { client, peer } = await pair(t);
  const order = [];
  let within = true;
  for (let i = 0; i < 100; i++) {
    // Small ones are staged, large ones go at once or wait.
    client.write(Buffer.alloc(i % 10 === 0 ? 300_000 : 10), () => {
      assert.strictEqual(within, false);
      order.push(i);
    });
  }
  within = false;
  const size = 10 * 300_000 + 90 * 10;
  assert.strictEqual((await readAll(peer, size)).length, size);
  await turns(2);
  assert.deepStrictEqual(order, [...order.keys()]);
  assert.strictEqual(order.length, 100);
});

test('a write callback means that the kernel has it all', async (t) => {
  const { client, peer } = await pair(t);
  await fill(client);
  let called = false;
  client.write(Buffer.alloc(5000), () => (called = true));
  client.write('small', () => assert.ok(called, 'in order'));
  await turns();
  assert.strictEqual(called, false, 'there is no room');
  peer.read(Buffer.alloc(1 << 16), function more(error, buffer, count) {
    if (!error && count > 0) peer.read(buffer, more);
  });
  while (!called) await turn();
});

test('what did not leave stays in front of everything later, at every split', async (t) => {
  const { client, peer } = await pair(t);
  // Lengths around those of the stage and of a small write, while the peer reads by odd amounts.
  const lengths = [1, 31, 32, 33, 4095, 4096, 4097, 65535, 65536, 65537, 700_001, 3, 2_000_003, 5];
  const expected = [];
  let number = 0;
  for (let round = 0; round < 4; round++) {
    for (const length of lengths) {
      const part = Buffer.alloc(length, ++number);
      expected.push(part);
      if (number % 3 === 0)
        client.writev([part.subarray(0, length >> 1), part.subarray(length >> 1)]);
      else client.write(part);
    }
  }
  client.end();
  const received = [];
  for (let size = 1; ; size = (size * 7 + 3) % 100_003) {
    const chunk = await read(peer, size + 1);
    if (chunk.length === 0) break;
    received.push(chunk);
  }
  assert.ok(Buffer.concat(received).equals(Buffer.concat(expected)));
});

test('a view that lies about its length gives away nothing else', async (t) => {
  const { client, peer } = await pair(t);
  const liar = new Liar(3).fill(1);
  const last = Buffer.from('own length');
  Object.defineProperty(last, 'length', { value: 2000 });
  client.write(liar);
  client.write(liar); // Staged.
  client.writev([liar, liar]);
  client.write(last);
  client.end();
  assert.deepStrictEqual(
    await readAll(peer),
    Buffer.concat([Buffer.alloc(12, 1), Buffer.from('own length')]),
  );
});

test('a class of views with a constructor of its own is written as any other', async (t) => {
  const { client, peer } = await pair(t);
  class Named extends Uint8Array {
    /** @param {number} size @param {string} name */
    constructor(size, name) {
      super(size);
      this.name = name.toUpperCase();
    }
  }
  const named = new Named(100, 'x').fill(7);
  client.write(named, 40);
  client.write(named, 40); // Staged.
  client.writev([named, named], [40, 40]);
  const size = await fill(client);
  client.write(named, 40);
  client.write(named, 40); // Both wait, and leave together.
  client.end();
  assert.strictEqual((await readAll(peer)).length, 6 * 40 + size);
});

test('a refused write is told behind those that wait', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  const log = [];
  await fill(client);
  client.write(Buffer.alloc(1), () => log.push('waited'));
  client.end();
  client.write('late', (error) => log.push(error?.code));
  await readAll(peer);
  await turns(2);
  assert.deepStrictEqual(log, ['waited', 'ERR_STREAM_WRITE_AFTER_END']);
});

test('writev gives its own arrays back', async (t) => {
  const { client, peer } = await pair(t);
  const buffers = [Buffer.from('hello '), new Uint8Array(0), Buffer.from('world')];
  const results = [];
  client.writev(buffers, (...result) => results.push(result));
  client.writev(buffers, [5, 0, 2], (...result) => results.push(result));
  client.end();
  assert.strictEqual((await readAll(peer)).toString(), 'hello worldhellowo');
  assert.strictEqual(results[0][1], buffers);
  assert.deepStrictEqual(results[0][2], [6, 0, 5]);
  assert.deepStrictEqual(results[1].slice(0, 1), [null]);
  assert.deepStrictEqual(results[1][2], [5, 0, 2]);
});

test('writev takes any number of buffers', async (t) => {
  const { client, peer } = await pair(t);
  for (const count of [0, 1, 2, 1024, 1025, 5000]) {
    const buffers = Array.from({ length: count }, (_, i) => Buffer.alloc(i % 7, i));
    const expected = Buffer.concat(buffers);
    const done = new Promise((resolve) => client.writev(buffers, resolve));
    if (expected.length > 0) {
      assert.ok((await readAll(peer, expected.length)).equals(expected), `${count} buffers`);
    }
    assert.strictEqual(await done, null);
  }
});

test('writev takes 700 000 buffers', async (t) => {
  const { client, peer } = await pair(t);
  const byte = Buffer.from('x');
  const buffers = new Array(700_000).fill(byte);
  const done = new Promise((resolve) => client.writev(buffers, resolve));
  assert.strictEqual((await readAll(peer, 700_000)).length, 700_000);
  assert.strictEqual(await done, null);
});

test('writev is not disturbed when its arrays change afterwards', async (t) => {
  const { client, peer } = await pair(t);
  const size = await fill(client);
  const buffers = [Buffer.alloc(100_000, 'a'), Buffer.alloc(100_000, 'b')];
  const lengths = [100_000, 100_000];
  client.writev(buffers, lengths);
  buffers.length = 0;
  lengths.fill(7);
  client.end();
  const received = (await readAll(peer)).subarray(size);
  assert.ok(
    received.equals(Buffer.concat([Buffer.alloc(100_000, 'a'), Buffer.alloc(100_000, 'b')])),
  );
});

test('wrong arguments of writev are thrown, and nothing is queued', async (t) => {
  const { client, peer } = await pair(t);
  const writev = /** @type {any} */ (client.writev.bind(client));
  const two = [Buffer.alloc(2), Buffer.alloc(2)];
  assert.throws(() => writev('text'), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => writev([Buffer.alloc(1), 'text']), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => writev(new Array(2)), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => writev(two, [2]), { code: 'ERR_INVALID_ARG_VALUE' });
  assert.throws(() => writev(two, [2, 2, 2]), { code: 'ERR_INVALID_ARG_VALUE' });
  assert.throws(() => writev(two, [2, 3]), { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
  assert.throws(() => writev(two, [2, -1]), { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
  assert.throws(() => writev(two, 'ab'), { code: 'ERR_INVALID_ARG_TYPE' });
  client.end();
  assert.strictEqual((await readAll(peer)).length, 0);
});

test('a buffer that is detached while its write waits is an error, and the stream stays whole', async (t) => {
  const { client, peer } = await pair(t);
  const size = await fill(client);
  const memory = new ArrayBuffer(1000);
  const detached = write(client, Buffer.from(memory));
  detached.catch(() => {});
  client.write('after');
  structuredClone(memory, { transfer: [memory] });
  client.end();
  const received = await readAll(peer);
  await assert.rejects(detached, { code: 'ERR_INVALID_STATE' });
  assert.strictEqual(received.length, size + 5);
  assert.strictEqual(received.subarray(size).toString(), 'after');
});

test('a write after the end is an error of its callback', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  client.write('x');
  client.end();
  assert.strictEqual(client.writable, false);
  await assert.rejects(write(client, 'y'), { code: 'ERR_STREAM_WRITE_AFTER_END' });
  await turns();
  assert.ok(client.finished);
  await assert.rejects(write(client, 'y'), { code: 'ERR_STREAM_WRITE_AFTER_END' });
  assert.strictEqual((await readAll(peer)).toString(), 'x');
});

test('an error that no callback took is an event, but only for a listener', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  client.end();
  client.write('nobody hears of this');
  await turns();
  const heard = once(client, 'error');
  client.write('this is heard of');
  assert.strictEqual((await heard)[0].code, 'ERR_STREAM_WRITE_AFTER_END');
  peer.end();
});

test('writing to a peer that is gone is an error of the write, and closes', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  socket.resetAndDestroy();
  await turns();
  const events = logEvents(connection);
  await assert.rejects(write(connection, 'x'), (/** @type {any} */ error) => {
    assert.ok(['EPIPE', 'ECONNRESET'].includes(error.code), error.code);
    assert.strictEqual(error.syscall, 'write');
    assert.strictEqual(error.message, `write ${error.code}`);
    return true;
  });
  await turns();
  assert.deepStrictEqual(events, ['close']);
});

test('when the peer goes in the middle of 32 MiB every callback is told once, in order', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  const log = [];
  connection.write(Buffer.alloc(32 << 20), (error) => log.push(`write ${error?.code}`));
  connection.write('more', (error) => log.push(`more ${error?.code}`));
  connection.end((error) => log.push(`end ${error?.code}`));
  connection.on('close', () => log.push('close'));
  socket.once('data', () => socket.resetAndDestroy());
  await once(connection, 'close');
  const { 0: first } = log;
  assert.match(first, /^write (ECONNRESET|EPIPE)$/);
  const code = first.slice('write '.length);
  assert.deepStrictEqual(log, [first, `more ${code}`, `end ${code}`, 'close']);
});

test('the first small write of a turn leaves at once', async (t) => {
  const { client, peer } = await pair(t);
  const before = oxwire.counters().send;
  client.write('ping');
  assert.strictEqual(oxwire.counters().send, before + 1);
  client.write('staged');
  assert.strictEqual(oxwire.counters().send, before + 1);
  assert.strictEqual((await readAll(peer, 10)).toString(), 'pingstaged');
  assert.strictEqual(oxwire.counters().send, before + 2);
});

test('a connection that wrote often in its last turn is staged from the first write', async (t) => {
  const { client, peer } = await pair(t);
  for (let i = 0; i < 3; i++) client.write('a');
  await readAll(peer, 3);
  const before = oxwire.counters().send;
  client.write('b');
  assert.strictEqual(oxwire.counters().send, before);
  assert.strictEqual((await read(peer)).toString(), 'b');
  client.write('c');
  assert.strictEqual(oxwire.counters().send, before + 2, 'it wrote once: at once again');
});

/** A view whose memory was taken away. */
function taken() {
  const view = new Uint8Array(8);
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
}

test('a further write of a turn means and refuses what the first one does', async (t) => {
  const bytes = () => Buffer.from('0123456789');
  /** @type {[string, () => any[]][]} */
  const calls = [
    ['all', () => [bytes()]],
    ['as many as there are', () => [bytes(), 10]],
    ['some', () => [bytes(), 3]],
    ['some of a part of memory', () => [new Uint8Array(bytes().buffer, bytes().byteOffset, 4), 2]],
    ['none', () => [bytes(), 0]],
    ['an empty one', () => [new Uint8Array(0)]],
    ['more than there are', () => [bytes(), 11]],
    ['fewer than none', () => [bytes(), -1]],
    ['half a byte', () => [bytes(), 0.5]],
    ['NaN', () => [bytes(), NaN]],
    ['null', () => [bytes(), null]],
    ['a number in digits', () => [bytes(), '3']],
    ['an encoding', () => [bytes(), 'utf8']],
    ['a function', () => [bytes(), () => {}]],
    ['large', () => [Buffer.alloc(5000, 'x')]],
    ['some of a large one', () => [Buffer.alloc(5000, 'x'), 7]],
    ['more than the stage holds', () => [Buffer.alloc(4096, 'x'), 4096]],
    ['text', () => ['text']],
    ['an array', () => [[1, 2, 3], 3]],
    ['words', () => [new Uint16Array(4), 4]],
    ['nothing', () => []],
    ['what lies about its length', () => [new Liar(4), 8]],
    ['what was taken away', () => [taken()]],
    ['some of what was taken away', () => [taken(), 2]],
  ];
  for (const [name, args] of calls) {
    const outcomes = /** @type {unknown[]} */ ([]);
    for (const before of [0, 2]) {
      const { client, peer } = await pair(t);
      client.on('error', (error) => outcomes.push(/** @type {any} */ (error).code));
      for (let i = 0; i < before; i++) client.write(Buffer.from('<'), 1);
      try {
        outcomes.push(client.write(.../** @type {[any]} */ (args())));
      } catch (error) {
        outcomes.push(/** @type {any} */ (error).code, /** @type {any} */ (error).message);
      }
      client.write(Buffer.from('>'), 1);
      client.end();
      const all = (await readAll(peer)).toString();
      outcomes.push(all.slice(before), client.bytesWritten - before);
      client.destroy();
    }
    const half = outcomes.length / 2;
    assert.deepStrictEqual(outcomes.slice(half), outcomes.slice(0, half), name);
  }
});

test('the stage holds the writes of one connection; another sends it off', async (t) => {
  const a = await pair(t);
  const b = await pair(t);
  const before = oxwire.counters();
  for (const letter of ['1', '2', '3']) {
    a.client.write(`a${letter}`);
    b.client.write(`b${letter}`);
  }
  assert.strictEqual((await readAll(a.peer, 6)).toString(), 'a1a2a3');
  assert.strictEqual((await readAll(b.peer, 6)).toString(), 'b1b2b3');
  const after = oxwire.counters();
  assert.strictEqual(after.send - before.send, 6);
  assert.strictEqual(after.bytesCopied - before.bytesCopied, 8, 'all but the first of each');
});

test('more than the stage holds leaves in stages, in order', async (t) => {
  const { client, peer } = await pair(t);
  const before = oxwire.counters().send;
  const expected = [];
  for (let i = 0; i < 100; i++) {
    const part = Buffer.alloc(4096, i);
    expected.push(part);
    client.write(part);
  }
  client.end();
  assert.ok((await readAll(peer)).equals(Buffer.concat(expected)));
  // 99 of 4 KiB in stages of 64 KiB, and the first by itself.
  assert.strictEqual(oxwire.counters().send - before, 1 + Math.ceil((99 * 4096) / 65536));
});

test('more than stage and kernel hold waits, and nothing overtakes it', async (t) => {
  const { client, peer } = await pair(t);
  // Small writes alone, so many in one turn that the stage is sent off into a full kernel.
  const expected = [];
  let completed = 0;
  for (let i = 0; i < 4000; i++) {
    const part = Buffer.alloc(4000, i);
    expected.push(part);
    client.write(part, () => completed++);
  }
  client.end();
  assert.ok((await readAll(peer)).equals(Buffer.concat(expected)));
  assert.strictEqual(completed, 4000);
});

test('what is staged stays with its connection when the stack runs out', async (t) => {
  const a = await pair(t);
  const b = await pair(t);
  // `b` writes as near to the end of the stack as it can, and has to send off what `a` has staged.
  const write = () => {
    try {
      b.client.write('b');
      return true;
    } catch {
      return false;
    }
  };
  let written = false;
  function deep() {
    try {
      deep();
    } catch {
      // The end of the stack.
    }
    written ||= write();
  }
  let expected = 0;
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 3; i++, expected++) a.client.write('a');
    written = false;
    deep();
    await turn();
  }
  a.client.end();
  b.client.end();
  assert.strictEqual((await readAll(a.peer)).toString(), 'a'.repeat(expected));
  assert.match((await readAll(b.peer)).toString(), /^b+$/);
});

test('a write leaves in its turn though the one before it has run out of stack', async (t) => {
  const { client, peer } = await pair(t);
  const bytes = Buffer.from('a');
  /** One write, so far away from the end of the stack, in calls and words; whether there was room. */
  const writeAt = (/** @type {number} */ distance, /** @type {number} */ words) => {
    let left = -1;
    let written = false;
    function deep() {
      try {
        deep();
      } catch {
        left = distance;
      }
      if (left-- !== 0) return;
      try {
        client.write(bytes);
        written = true;
      } catch {
        // It was too near.
      }
    }
    Reflect.apply(deep, undefined, new Array(words).fill(0));
    return written;
  };
  for (let round = 0, written = 0; written < 64; round++) {
    // It wrote often in its last turn: each write of the next one is staged.
    for (let i = 0; i < 3; i++) client.write(bytes);
    await turns();
    if (writeAt(round >> 4, round % 16)) written++;
    assert.strictEqual(client.write(bytes), true);
    await turns();
    assert.strictEqual(client.writableLength, 0, `round ${round}`);
  }
  client.end();
  assert.strictEqual((await readAll(peer)).length, client.bytesWritten);
});

test('a write above 4 KiB sends off the stage and goes at once', async (t) => {
  const { client, peer } = await pair(t);
  client.write('a');
  client.write('b');
  const before = oxwire.counters().send;
  client.write(Buffer.alloc(4097, 'c'));
  assert.strictEqual(oxwire.counters().send, before + 2);
  client.write('d');
  assert.strictEqual((await readAll(peer, 4100)).toString(), `ab${'c'.repeat(4097)}d`);
});

test('end, close and destroy send off the stage', async (t) => {
  for (const method of ['end', 'close', 'destroy']) {
    const { client, peer } = await pair(t);
    client.write('one ');
    client.write('two');
    client[method]();
    assert.strictEqual((await readAll(peer)).toString(), 'one two', method);
  }
});

test('small writes that waited leave together', async (t) => {
  const { client, peer } = await pair(t);
  const size = await fill(client);
  let completed = 0;
  for (let i = 0; i < 5000; i++) client.write(Buffer.from([i]), () => completed++);
  const before = oxwire.counters().send;
  client.end();
  const received = await readAll(peer);
  assert.strictEqual(received.length, size + 5000);
  for (let i = 0; i < 5000; i++) assert.strictEqual(received[size + i], i & 255);
  assert.strictEqual(completed, 5000);
  const sends = oxwire.counters().send - before;
  assert.ok(sends < 200, `${sends} sends`);
});

/** Reads all that comes, as long as it comes. @param {import('../..').Connection} connection */
function drink(connection) {
  connection.read(Buffer.alloc(1 << 20), function onread(error, buffer, count) {
    if (!error && count > 0) connection.read(buffer, onread);
  });
}

test('write says whether one may write on, and drain when one may again, as in node:net', async (t) => {
  const server = await listen(t);
  const chunk = Buffer.alloc(1 << 20);
  const seen = [];
  for (const library of /** @type {any[]} */ ([oxwire, net])) {
    const socket = library.connect(server.address().port, '127.0.0.1');
    const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
    const drains = [];
    socket.on('drain', () => drains.push([socket.writableLength, socket.writableNeedDrain]));
    const log = [socket.writableNeedDrain];
    drink(peer);
    for (let round = 0; round < 2; round++) {
      peer.pause();
      while (socket.writableLength === 0) {
        socket.write(chunk);
        await turns(2);
      }
      // Until here node:net had a drain for each chunk that left.
      drains.length = 0;
      log.push(socket.writableNeedDrain, socket.write('more'));
      const drained = once(socket, 'drain');
      peer.resume();
      await drained;
      await turns();
      log.push(...drains);
    }
    seen.push(log);
    socket.destroy();
  }
  const round = [true, false, [0, false]];
  assert.deepStrictEqual(seen[0], [false, ...round, ...round]);
  assert.deepStrictEqual(seen[0], seen[1]);
});

test('drain comes behind the callbacks of what had waited', async (t) => {
  const { client, peer } = await pair(t);
  const log = [];
  client.on('drain', () => log.push('drain'));
  await fill(client);
  client.write('x', () => log.push('x'));
  client.writev([Buffer.alloc(5), Buffer.alloc(5000)], () => log.push('v'));
  drink(peer);
  await once(client, 'drain');
  assert.deepStrictEqual(log, ['x', 'v', 'drain']);
});

test('there is no drain where write has always said to go on', async (t) => {
  const { client, peer } = await pair(t);
  client.on('drain', () => assert.fail('nobody waits for it'));
  drink(peer);
  for (let i = 0; i < 100; i++) {
    assert.strictEqual(client.write(Buffer.alloc(1000)), true);
    if (i % 10 === 0) await turns(1);
  }
  assert.strictEqual(client.writev([Buffer.alloc(6000)]), true);
  await write(client, 'last');
  await turns();
});

test('there is no drain once our side is to be ended, as in node:net, or is closed', async (t) => {
  const server = await listen(t);
  for (const library of /** @type {any[]} */ ([oxwire, net])) {
    const socket = library.connect(server.address().port, '127.0.0.1');
    const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
    socket.on('drain', () => assert.fail('nothing can be written'));
    while (socket.write(Buffer.alloc(1 << 20))) await turns(1);
    socket.end();
    assert.strictEqual(socket.writableNeedDrain, false);
    drink(peer);
    await once(socket, 'finish');
    await turns();
    socket.destroy();
  }

  const { client } = await pair(t);
  client.on('drain', () => assert.fail('nothing can be written'));
  await fill(client);
  client.destroy();
  assert.deepStrictEqual([client.writableNeedDrain, client.writableLength], [false, 0]);
  await closed(client);
});

test('what is written before the connection counts, and is drained by it', async (t) => {
  const server = await listen(t);
  const client = oxwire.connect(server.address().port);
  assert.strictEqual(client.write(Buffer.alloc(client.writableHighWaterMark - 1)), true);
  assert.strictEqual(client.write('x'), false);
  assert.strictEqual(client.writableLength, client.writableHighWaterMark);
  assert.strictEqual(client.bytesWritten, client.writableLength);
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'drain')]);
  assert.deepStrictEqual([client.connecting, client.writableLength], [false, 0]);
  assert.strictEqual((await readAll(peer, client.bytesWritten)).length, 65_536);
  client.destroy();
});

test('what is staged counts as written, and as not taken yet', async (t) => {
  const { client, peer } = await pair(t);
  const counts = () => [client.bytesWritten, client.writableLength];
  client.write('at once');
  assert.deepStrictEqual(counts(), [7, 0]);
  client.write('staged');
  client.write('é');
  client.writev([Buffer.from('to'), Buffer.from('gether')], [2, 4]);
  assert.deepStrictEqual(counts(), [21, 14]);
  await readAll(peer, 21);
  assert.deepStrictEqual(counts(), [21, 0]);
});

test('writableLength falls as parts of a write leave, and bytesWritten stays', async (t) => {
  const { client, peer } = await pair(t);
  const total = 32 << 20;
  client.write(Buffer.alloc(total / 2));
  client.writev([Buffer.alloc(total / 4), Buffer.alloc(total / 4)]);
  const lengths = new Set();
  for (let received = 0; received < total;) {
    assert.strictEqual(client.bytesWritten, total);
    assert.ok(received <= total - client.writableLength);
    lengths.add(client.writableLength);
    received += (await read(peer, 1 << 20)).length;
  }
  assert.strictEqual(client.writableLength, 0);
  const falling = [...lengths];
  assert.ok(falling.length > 3, `${falling.length} parts`);
  assert.deepStrictEqual(
    falling,
    falling.toSorted((a, b) => b - a),
  );
});

test('what is refused is not counted as written', async (t) => {
  const { client } = await pair(t);
  client.write('hello');
  client.end();
  const onwrite = (error) => assert.ok(error);
  client.write('too late', onwrite);
  assert.strictEqual(client.bytesWritten, 5);
  await turns();
  client.destroy();
  client.write('too late', onwrite);
  client.writev([Buffer.alloc(5000)], onwrite);
  assert.deepStrictEqual([client.bytesWritten, client.writableLength], [5, 0]);
  await closed(client);
  assert.deepStrictEqual([client.bytesWritten, client.writableLength], [5, 0]);
});

test('a write whose buffer is gone is taken off what waits', async (t) => {
  const { client, peer } = await pair(t);
  const filled = await fill(client);
  const waiting = client.writableLength;
  const buffer = Buffer.from(new ArrayBuffer(1000));
  const failed = assert.rejects(write(client, buffer), { code: 'ERR_INVALID_STATE' });
  assert.strictEqual(client.writableLength, waiting + 1000);
  structuredClone(buffer.buffer, { transfer: [buffer.buffer] });
  drink(peer);
  await Promise.all([failed, once(client, 'drain')]);
  assert.deepStrictEqual([client.writableLength, client.bytesWritten], [0, filled]);
});

test('a write says false where nothing is accepted any more', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t, { allowHalfOpen: true });
    const other = await pair(t);
    for (const connection of [client, peer, other.client]) connection.on('error', () => {});
    client.end();
    peer.destroy();
    other.client.pipe(other.client, () => {});
    const gone = new ArrayBuffer(1);
    const view = new Uint8Array(gone);
    structuredClone(gone, { transfer: [gone] });
    for (const connection of [client, peer, other.client, new oxwire.Connection()]) {
      connection.on('error', () => {});
      const { length } = [
        connection.write('x'),
        connection.write(Buffer.alloc(10_000)),
        connection.write(''),
        connection.write(view),
        connection.writev([Buffer.alloc(1)]),
        connection.writev([Buffer.alloc(10_000)]),
      ].filter((mayGoOn) => mayGoOn);
      assert.strictEqual(length, 0);
    }
  }));

test('the last bytes of an end may be some of a buffer, or in an encoding', () =>
  leavesNothing(async (t) => {
    const ends = /** @type {[any, any, string][]} */ ([
      [Buffer.from('hello'), 4, 'hell'],
      [Buffer.from('hello'), 'utf8', 'hello'],
      [Buffer.from('hello'), undefined, 'hello'],
      ['68656c6c', 'hex', 'hell'],
    ]);
    for (const [data, how, expected] of ends) {
      const { client, peer } = await pair(t);
      const ended = new Promise((resolve) => client.end(data, how, resolve));
      assert.strictEqual(String(await readAll(peer)), expected);
      assert.strictEqual(await ended, null);
    }
    const { client } = await pair(t);
    assert.throws(() => client.end(Buffer.alloc(4), 5), { code: 'ERR_OUT_OF_RANGE' });
    assert.ok(!client.finished && client.writable, 'it is not ended');
  }));

test('an end whose bytes are refused is told so', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t, { allowHalfOpen: true });
    const calls = new Calls();
    client.end('a', calls.of('first'));
    client.end('b', calls.of('second'));
    client.end(calls.of('third'));
    await calls.once();
    assert.deepStrictEqual(calls.log.slice().sort(), [
      'first',
      'second ERR_STREAM_WRITE_AFTER_END',
      'third',
    ]);
    await new Promise((resolve) =>
      client.end('c', (/** @type {any} */ error) => resolve(error)),
    ).then((error) => assert.strictEqual(error.code, 'ERR_STREAM_WRITE_AFTER_END'));
    assert.strictEqual(String(await readAll(peer)), 'a');
  }));

test('an end whose bytes are gone is told so, before or while it waits', () =>
  leavesNothing(async (t) => {
    const gone = () => {
      const view = new Uint8Array(100);
      return { view, lose: () => structuredClone(view.buffer, { transfer: [view.buffer] }) };
    };
    const end = (/** @type {any} */ connection, /** @type {any} */ data) =>
      new Promise((resolve) =>
        connection.end(data, (/** @type {any} */ error) => resolve(error?.code)),
      );
    const { client, peer } = await pair(t);
    client.on('error', () => assert.fail('it was told'));
    const before = gone();
    before.lose();
    const ended = end(client, before.view);
    assert.strictEqual((await readAll(peer)).length, 0);
    assert.strictEqual(await ended, 'ERR_INVALID_STATE');

    const full = await pair(t);
    full.client.on('error', () => assert.fail('it was told'));
    const filled = await fill(full.client);
    const meanwhile = gone();
    const endedLate = end(full.client, meanwhile.view);
    meanwhile.lose();
    assert.strictEqual((await readAll(full.peer)).length, filled);
    assert.strictEqual(await endedLate, 'ERR_INVALID_STATE');
  }));

test('a write without a callback whose buffer is gone while it waits is an error event', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t);
    const calls = new Calls();
    calls.on(client, ['error']);
    const filled = await fill(client);
    const view = new Uint8Array(100);
    client.write(view);
    client.write('after', calls.of('after'));
    structuredClone(view.buffer, { transfer: [view.buffer] });
    assert.strictEqual((await readAll(peer, filled + 5)).subarray(filled).toString(), 'after');
    await calls.once();
    assert.deepStrictEqual(calls.log, ['error ERR_INVALID_STATE', 'after']);
  }));
