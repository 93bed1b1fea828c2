'use strict';

// Lent buffers whose memory goes away, or changes its size: an error of the operation where there is
// not enough of it left, and never a byte in memory of somebody else, or out of it.

const assert = require('assert');
const { once } = require('events');
const { test } = require('node:test');
const { MessageChannel } = require('worker_threads');
const oxwire = require('../..');
const { fill, listen, pair, readAll, turns } = require('../support/sockets');
const { Calls, leavesNothing, until } = require('../support/watch');

const GONE = 'ERR_INVALID_STATE';
const SECRET = 0x53;

/**
 * Memory that can be resized, which the library of types does not know yet.
 *
 * @param {number} size
 * @param {number} [most]
 * @returns {ArrayBuffer & { resize: (size: number) => void }}
 */
function resizable(size, most = size) {
  return new /** @type {any} */ (ArrayBuffer)(size, { maxByteLength: most });
}

/**
 * Ways of losing the memory of a view of at least `size` bytes: the view, what loses it, and what
 * then has its memory, if that is known.
 *
 * @type {Record<string, (size: number) => { view: Uint8Array, lose: () => ArrayBuffer | void }>}
 */
const LOSSES = {
  'is detached'(size) {
    const memory = new ArrayBuffer(size);
    return {
      view: new Uint8Array(memory),
      lose: () => structuredClone(memory, { transfer: [memory] }),
    };
  },
  'is detached under a Buffer'(size) {
    const memory = new ArrayBuffer(size + 8);
    return {
      view: Buffer.from(memory, 8),
      lose: () => structuredClone(memory, { transfer: [memory] }),
    };
  },
  'is transferred to a port'(size) {
    const memory = new ArrayBuffer(size);
    return {
      view: new Uint8Array(memory),
      lose() {
        const { port1, port2 } = new MessageChannel();
        port1.postMessage(memory, [memory]);
        port2.close();
      },
    };
  },
  'moves as WebAssembly grows'(size) {
    const memory = new /** @type {any} */ (globalThis).WebAssembly.Memory({
      initial: Math.ceil(size / 65536),
    });
    return {
      view: new Uint8Array(memory.buffer, 0, size),
      lose: () => (memory.grow(1), memory.buffer),
    };
  },
  'is shrunk to nothing'(size) {
    const memory = resizable(size);
    return { view: new Uint8Array(memory), lose: () => memory.resize(0) };
  },
  'is shrunk so that the view is out of it'(size) {
    const memory = resizable(size);
    return { view: new Uint8Array(memory, 0, size), lose: () => memory.resize(size - 1) };
  },
};

/** @param {ArrayBuffer | void} memory */
function hasSecret(memory) {
  return memory instanceof ArrayBuffer && Buffer.from(memory).includes(SECRET);
}

for (const [loss, make] of Object.entries(LOSSES)) {
  test(`a read whose memory ${loss} fails alone, and nothing is written`, () =>
    leavesNothing(async (t) => {
      const { client, peer } = await pair(t);
      const { view, lose } = make(64);
      const calls = new Calls();
      client.read(Buffer.alloc(4), calls.of('before'));
      client.read(
        view,
        calls.of('lost', (_error, given, count) => {
          assert.strictEqual(given, view);
          assert.strictEqual(count, 0);
        }),
      );
      const after = Buffer.alloc(64);
      client.read(
        after,
        calls.of('after', (_error, _given, count) => assert.strictEqual(count, 60)),
      );
      await turns();
      const owner = lose();
      peer.write(Buffer.alloc(64, SECRET));
      await calls.once();
      assert.deepStrictEqual(calls.log, ['before', `lost ${GONE}`, 'after']);
      assert.strictEqual(hasSecret(owner), false);
      assert.ok(
        after.subarray(0, 60).every((byte) => byte === SECRET),
        'nothing is lost',
      );
    }));

  test(`a read before connect whose memory ${loss} fails alone`, () =>
    leavesNothing(async (t) => {
      const server = await listen(t);
      const client = oxwire.connect(server.address().port);
      t.after(() => client.destroy());
      const { view, lose } = make(64);
      const calls = new Calls();
      client.read(view, calls.of('lost'));
      client.read(Buffer.alloc(64), calls.of('after'));
      const owner = lose();
      const [peer] = await once(server, 'connection');
      peer.write(Buffer.alloc(64, SECRET));
      await calls.once();
      assert.deepStrictEqual(calls.log, [`lost ${GONE}`, 'after']);
      assert.strictEqual(hasSecret(owner), false);
    }));

  test(`a read whose memory ${loss} in the callback before it fails alone`, () =>
    leavesNothing(async (t) => {
      const { client, peer } = await pair(t);
      const { view, lose } = make(64);
      peer.write(Buffer.alloc(64, SECRET));
      await turns();
      const calls = new Calls();
      /** @type {ArrayBuffer | void} */
      let owner;
      client.read(
        Buffer.alloc(4),
        calls.of('before', () => (owner = lose())),
      );
      client.read(view, calls.of('lost'));
      client.read(Buffer.alloc(64), calls.of('after'));
      await calls.once();
      assert.deepStrictEqual(calls.log, ['before', `lost ${GONE}`, 'after']);
      assert.strictEqual(hasSecret(owner), false);
    }));

  test(`a waiting write whose memory ${loss} fails alone, small or large`, () =>
    leavesNothing(async (t) => {
      const { client, peer } = await pair(t);
      const calls = new Calls();
      const size = await fill(client);
      const lent = [64, 100_000].map(make);
      client.write('1', calls.of('first'));
      for (const { view } of lent) {
        const { length } = view.fill(SECRET);
        client.write(
          view,
          calls.of(`lost ${length}`, (_error, given, told) => {
            assert.strictEqual(given, view);
            assert.strictEqual(told, length);
          }),
        );
        client.write('2', calls.of(`after ${length}`));
      }
      client.writev([Buffer.from('3'), lent[0].view], [1, 64], calls.of('copied')); // Up to 4 KB.
      const small = make(64);
      client.writev([Buffer.alloc(5000, '4'), small.view.fill(SECRET)], calls.of('lost writev'));
      client.write('5', calls.of('last'));
      client.end(calls.of('end'));
      for (const { lose } of [...lent, small]) lose();
      const received = (await readAll(peer)).subarray(size);
      await calls.once();
      assert.deepStrictEqual(calls.log, [
        'first',
        `lost 64 ${GONE}`,
        'after 64',
        `lost 100000 ${GONE}`,
        'after 100000',
        'copied',
        `lost writev ${GONE}`,
        'last',
        'end',
      ]);
      assert.ok(
        received.equals(
          Buffer.concat([Buffer.from('1223'), Buffer.alloc(64, SECRET), Buffer.from('5')]),
        ),
      );
    }));

  test(`a write before connect whose memory ${loss} fails alone`, () =>
    leavesNothing(async (t) => {
      const server = await listen(t);
      const client = oxwire.connect(server.address().port);
      t.after(() => client.destroy());
      const { view, lose } = make(64);
      const calls = new Calls();
      client.write('a', calls.of('before'));
      client.write(view.fill(SECRET), calls.of('lost'));
      client.write('b', calls.of('after'));
      client.end(calls.of('end'));
      lose();
      const [peer] = await once(server, 'connection');
      assert.strictEqual((await readAll(peer)).toString(), 'ab');
      await calls.once();
      assert.deepStrictEqual(calls.log, ['before', `lost ${GONE}`, 'after', 'end']);
    }));

  for (const method of ['write', 'writev']) {
    test(`a ${method} whose memory ${loss} when a part has left ends the connection`, () =>
      leavesNothing(async (t) => {
        const { client, peer } = await pair(t);
        const calls = new Calls();
        calls.on(client, ['finish', 'close']);
        client.on('error', assert.fail); // Callbacks take it.
        const { view, lose } = make(32 << 20);
        view.fill(SECRET);
        if (method === 'write') client.write(view, calls.of('lost'));
        else client.writev([Buffer.alloc(5000, SECRET), view], calls.of('lost'));
        client.write('never', calls.of('after'));
        client.end(calls.of('end callback'));
        client.read(Buffer.alloc(1), calls.of('read'));
        await turns();
        assert.deepStrictEqual(calls.log, []);
        lose();
        // Half a message must not look like all of it.
        const received = Buffer.alloc(32 << 20);
        let length = 0;
        const error = await new Promise((resolve) => {
          const part = Buffer.alloc(65536);
          peer.read(part, function onread(failure, _part, count) {
            if (failure || count === 0) return resolve(failure);
            part.copy(received, length, 0, count);
            length += count;
            peer.read(part, onread);
          });
        });
        await calls.once();
        assert.strictEqual(error?.code, 'ECONNRESET');
        assert.ok(length < 32 << 20);
        assert.ok(
          received.subarray(0, length).every((byte) => byte === SECRET),
          'nothing else was sent',
        );
        assert.deepStrictEqual(calls.log, [
          `lost ${GONE}`,
          `after ${GONE}`,
          'finish',
          `end callback ${GONE}`,
          `read ${GONE}`,
          'close',
        ]);
      }));
  }
}

test('what was staged, or the kernel took, no longer needs its memory', () =>
  leavesNothing(async (t) => {
    for (const make of Object.values(LOSSES)) {
      const { client, peer } = await pair(t);
      const calls = new Calls();
      for (const name of ['at once', 'staged', 'staged too']) {
        const { view, lose } = make(64);
        client.write(view.fill(SECRET), calls.of(name));
        lose();
      }
      const { view, lose } = make(64);
      client.writev([view.fill(SECRET), view], calls.of('writev'));
      lose();
      assert.ok((await readAll(peer, 5 * 64)).every((byte) => byte === SECRET));
      await calls.once();
      client.destroy();
    }
  }));

test('memory that is shrunk, and large enough, is written and read', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t);
    const size = await fill(client);
    const calls = new Calls();
    const source = resizable(10_000);
    const view = new Uint8Array(source).fill(SECRET);
    client.write(view, 100, calls.of('write'));
    client.writev([view, view], [2000, 3000], calls.of('writev'));
    source.resize(3000);
    client.end(calls.of('end'));
    const target = resizable(10_000);
    peer.write(Buffer.alloc(100, SECRET));
    client.read(
      new Uint8Array(target),
      calls.of('read', (_error, _given, count) => assert.strictEqual(count, 7)),
    );
    target.resize(7);
    const received = (await readAll(peer)).subarray(size);
    await calls.once();
    assert.strictEqual(received.length, 5100);
    assert.ok(received.every((byte) => byte === SECRET));
    assert.ok(new Uint8Array(target).every((byte) => byte === SECRET));
  }));

test('memory that grows is filled as far as it then goes', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t);
    const calls = new Calls();
    const shared = new /** @type {any} */ (SharedArrayBuffer)(0, { maxByteLength: 100 });
    for (const memory of [resizable(0, 100), resizable(5, 100), shared]) {
      const name = `read ${calls.log.length}`;
      client.read(
        new Uint8Array(memory),
        calls.of(name, (error, _given, count) =>
          assert.deepStrictEqual([error, count], [null, 50]),
        ),
      );
      if (memory === shared) memory.grow(50);
      else memory.resize(50);
      peer.write(Buffer.alloc(50, SECRET));
      await calls.once();
      assert.ok(new Uint8Array(memory).every((byte) => byte === SECRET));
    }
  }));

test('a read into a detached buffer fails as one that has no room, and the connection goes on', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t, { allowHalfOpen: true });
    for (const make of Object.values(LOSSES)) {
      const calls = new Calls();
      const { view, lose } = make(64);
      lose();
      client.read(view, calls.of('read'));
      await calls.once();
      assert.match(calls.log[0], /^read ERR_INVALID_(ARG_VALUE|STATE)$/);
    }
    peer.write('x');
    assert.strictEqual((await readAll(client, 1)).toString(), 'x');
    peer.end();
    assert.strictEqual((await readAll(client)).length, 0);
  }));

for (const [loss, make] of Object.entries(LOSSES)) {
  if (loss === 'is shrunk to nothing') continue; // That is an empty write.
  test(`a write whose memory ${loss} before the call is told so, and nothing is written`, () =>
    leavesNothing(async (t) => {
      const { client, peer } = await pair(t);
      const { view, lose } = make(64);
      lose();
      const calls = new Calls();
      client.write(view, calls.of('write'));
      client.writev([Buffer.from('a'), view], calls.of('writev'));
      client.writev([Buffer.alloc(9000), view], calls.of('writev much'));
      client.end(calls.of('end'));
      assert.strictEqual((await readAll(peer)).length, 0);
      await calls.once();
      assert.deepStrictEqual(calls.log, [
        `write ${GONE}`,
        `writev ${GONE}`,
        `writev much ${GONE}`,
        'end',
      ]);
    }));
}

test('a view that lies about its length is read into as far as it goes, and the next read goes on', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t);
    class Liar extends Uint8Array {
      get length() {
        return 4000;
      }
    }
    const small = Buffer.alloc(3);
    Object.defineProperty(small, 'length', { value: 0 });
    peer.write('abcdefgh');
    await turns();
    const seen = [];
    const onread = (error, _given, count) => seen.push(error?.code ?? count);
    for (const buffer of [new Liar(3), small, Buffer.alloc(9)]) client.read(buffer, onread);
    await until(() => seen.length === 3);
    assert.deepStrictEqual(seen, [3, 3, 2]);
  }));
