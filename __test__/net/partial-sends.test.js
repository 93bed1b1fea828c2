'use strict';

// Sends of which the kernel takes a part: wherever it stops, what is left follows in order, and a
// callback runs when the kernel has all of its write. The native half is told to send less than it
// is asked to, as if the kernel had no more room; what it sends is sent.

const assert = require('assert');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const reactor = require('../../lib/net/reactor');
const { EAGAIN } = require('../../lib/native');
const { listen, pair, readAll, turn } = require('../support/sockets');
const { Calls, leavesNothing } = require('../support/watch');

/** @typedef {import('../..').Connection} Connection */

/** Where in the shared memory the native half finds how much is staged. */
const STAGE_LENGTH = 1;

/** The kernel below the native half, as one connection sees it. */
class Kernel {
  /** @param {import('node:test').TestContext} t */
  constructor(t) {
    /** How many bytes it has taken since the last `reset`. */
    this.taken = 0;
    /** @type {any} */
    this._connection = null;
    this._stops = /** @type {number[]} */ ([]);
    this._isFull = false;

    const native = reactor.open();
    const { send, sendStage } = native;
    t.mock.method(native, 'send', (id, buffer, start, end) =>
      this._take(end - start, (count) => send(id, buffer, start, start + count)),
    );
    t.mock.method(native, 'sendStage', () =>
      this._take(reactor.words[STAGE_LENGTH], (count) => {
        reactor.words[STAGE_LENGTH] = count;
        return sendStage();
      }),
    );
    t.mock.method(native, 'sendv', (id, buffers, lengths, first, skip) => {
      const parts = buffers.slice(first, first + 1024).map((buffer, i) => {
        return buffer.subarray(i === 0 ? skip : 0, lengths[first + i]);
      });
      const joined = Buffer.concat(parts);
      return this._take(joined.length, (count) => send(id, joined, 0, count));
    });
  }

  /**
   * Has no more room at each of `stops`, until a later turn.
   *
   * @param {Connection} connection
   * @param {number[]} stops in bytes from now on, in order; the same twice is no room at all twice
   */
  reset(connection, stops) {
    this.taken = 0;
    this._connection = connection;
    this._stops = [...stops];
    this._isFull = false;
  }

  /** @param {number} asked @param {(count: number) => number} send */
  _take(asked, send) {
    if (this._isFull) return EAGAIN;
    const [stop = Infinity] = this._stops;
    const room = stop - this.taken;
    if (room < asked) {
      this._stops.shift();
      this._isFull = true;
      const connection = this._connection;
      setImmediate(() => {
        if (this._connection !== connection) return;
        this._isFull = false;
        connection._onready(reactor.WRITABLE);
      });
    }
    if (room === 0) return EAGAIN;
    const sent = send(Math.min(asked, room));
    assert.strictEqual(sent, Math.min(asked, room), 'there is room for so little');
    this.taken += sent;
    return sent;
  }
}

/**
 * Makes writes, and checks that each is told when the kernel has it and not before.
 *
 * @param {Connection} connection
 * @param {Kernel} kernel
 * @param {Uint8Array[][]} writes each one buffer, or several for writev
 */
function writeAll(connection, kernel, writes) {
  const calls = new Calls();
  let end = 0;
  writes.forEach((buffers, i) => {
    end += Buffer.concat(buffers).length;
    const mine = end;
    const callback = calls.of(`${i}`, (error) => {
      if (!error) assert.ok(kernel.taken >= mine, `write ${i} is told at ${kernel.taken} bytes`);
    });
    if (buffers.length === 1) connection.write(buffers[0], callback);
    else connection.writev(buffers, callback);
  });
  return calls;
}

/** Writes of some lengths, of bytes that differ. @param {(number | number[])[]} lengths */
function makeWrites(lengths) {
  let next = 0;
  return lengths.map((length) =>
    [length].flat().map((size) => Buffer.alloc(size).map(() => next++ & 255)),
  );
}

/** @param {Uint8Array[][]} writes */
const join = (writes) => Buffer.concat(writes.flat());

/** Every one place to stop at. @param {number} size */
function* each(size) {
  for (let stop = 0; stop < size; stop++) yield [stop];
}

/** Every two places to stop at, the same twice among them. @param {number} size */
function* eachTwo(size) {
  for (let first = 0; first < size; first++) {
    for (let second = first; second < size; second++) yield [first, second];
  }
}

/** What is written, in bytes, and where the kernel stops. */
const SEQUENCES = {
  'a small write': { lengths: [23], stops: eachTwo },
  'small writes, staged but for the first': { lengths: [5, 7, 0, 3, 9], stops: eachTwo },
  'a writev that is staged': { lengths: [4, [3, 0, 7], 2], stops: eachTwo },
  'a large write': { lengths: [4097], stops: each },
  'a large writev': { lengths: [[0, 2000, 0, 0, 1, 2000, 99, 0]], stops: each },
  'large ones among small ones': {
    lengths: [3, 4100, 2, 1, [0, 4096, 1], 5, [0, 0], 6],
    stops: function* (/** @type {number} */ size) {
      // About each edge, and some in between.
      const edges = [3, 4103, 4105, 4106, 8202, 8203, 8208, size];
      for (const edge of edges) for (let stop = edge - 3; stop <= edge + 3; stop++) yield [stop];
      for (let stop = 1; stop < size; stop += 97) yield [stop, stop + 1, stop + 50, stop + 5000];
      yield Array.from({ length: size }, (_, stop) => stop); // Byte by byte.
    },
  },
};

for (const [name, { lengths, stops }] of Object.entries(SEQUENCES)) {
  test(`${name} may be cut anywhere`, (t) =>
    leavesNothing(async (scope) => {
      const { client, peer } = await pair(scope);
      const kernel = new Kernel(t);
      const writes = makeWrites(lengths);
      const expected = join(writes);
      for (const places of stops(expected.length)) {
        kernel.reset(client, places);
        const calls = writeAll(client, kernel, writes);
        const received = await readAll(peer, expected.length);
        assert.ok(received.equals(expected), `cut at ${places}`);
        while (!calls.complete) await turn();
        assert.deepStrictEqual(calls.log, [...lengths.keys()].map(String), `cut at ${places}`);
      }
    }));

  test(`${name}, written before connect, may be cut anywhere`, (t) =>
    leavesNothing(async (scope) => {
      const server = await listen(scope);
      const kernel = new Kernel(t);
      const writes = makeWrites(lengths);
      const expected = join(writes);
      const size = expected.length;
      for (const places of size < 100 ? each(size) : [[1], [3], [size >> 1], [size - 1]]) {
        const client = oxwire.connect(server.address().port);
        kernel.reset(client, places);
        const calls = writeAll(client, kernel, writes);
        client.end(calls.of('end'));
        const [peer] = await once(server, 'connection');
        assert.ok((await readAll(peer)).equals(expected), `cut at ${places}`);
        while (!calls.complete) await turn();
        assert.deepStrictEqual(calls.log, [...lengths.keys(), 'end'].map(String));
        client.destroy();
        peer.destroy();
      }
    }));

  for (const method of ['close', 'destroy']) {
    test(`${name} may be cut anywhere by ${method}, and each is told once`, (t) =>
      leavesNothing(async (scope) => {
        const server = await listen(scope);
        const kernel = new Kernel(t);
        const writes = makeWrites(lengths);
        const expected = join(writes);
        const size = expected.length;
        for (const places of size < 100 ? each(size) : [[0], [2], [size >> 1], [size - 1]]) {
          const client = oxwire.connect(server.address().port);
          const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
          kernel.reset(client, places);
          const calls = writeAll(client, kernel, writes);
          client.end(calls.of('end'));
          calls.on(client, ['finish', 'close']);
          client[method]();
          // The kernel has no more room, whatever comes.
          const received = await readAll(peer);
          while (!calls.complete) await turn();
          assert.ok(received.equals(expected.subarray(0, places[0])), `cut at ${places}`);
          assert.deepStrictEqual(
            calls.log.map((entry) => entry.replace(/ ERR_STREAM_DESTROYED$/, '')),
            [...lengths.keys(), 'finish', 'end ERR_SOCKET_CLOSED', 'close'].map(String),
          );
          peer.destroy();
        }
      }));
  }
}

test('a write that the kernel has taken is told so, though the rest of its stage is cut off', (t) =>
  leavesNothing(async (scope) => {
    const { client } = await pair(scope);
    const kernel = new Kernel(t);
    kernel.reset(client, [12]);
    const calls = writeAll(client, kernel, makeWrites([5, 7, 3, 9]));
    client.close();
    await calls.once();
    const code = 'ERR_STREAM_DESTROYED';
    assert.deepStrictEqual(calls.log, ['0', '1', `2 ${code}`, `3 ${code}`]);
  }));
