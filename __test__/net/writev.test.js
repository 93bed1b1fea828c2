'use strict';

// Any number of buffers, in one writev, empty ones among them.

const assert = require('assert');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { fill, listen, pair, readAll } = require('../support/sockets');
const { Calls, leavesNothing } = require('../support/watch');

/** 1024 is what the kernel takes at once. */
const COUNTS = [0, 1, 2, 3, 1023, 1024, 1025, 2048, 2049, 5000];
/** Very many. */
const MANY = 700_000;

/** Which of so many are how long. @type {Record<string, (i: number, count: number) => number>} */
const SHAPES = {
  'of which every third is empty': (i) => (i % 3 === 0 ? 0 : 1 + (i % 5)),
  'of which the first half is empty': (i, count) => (i < count / 2 ? 0 : 3),
  'of which the last half is empty': (i, count) => (i < count / 2 ? 3 : 0),
  'that are all empty': () => 0,
  'of which the last alone is not empty': (i, count) => (i === count - 1 ? 9 : 0),
};

// Parts of one buffer, whose bytes tell their places.
const SOURCE = Buffer.alloc(1 << 16).map((_, i) => (i * 2654435761) >>> 24);

/** @param {number} count @param {(i: number, count: number) => number} shape */
function makeBuffers(count, shape) {
  let offset = 0;
  return Array.from({ length: count }, (_, i) => {
    const length = shape(i, count);
    if (offset + length > SOURCE.length) offset = 0;
    const part = SOURCE.subarray(offset, offset + length);
    offset += length;
    return part;
  });
}

/**
 * Writes, checks what the callbacks are told, and ends.
 *
 * @param {import('../..').Connection} client
 * @param {Uint8Array[]} buffers
 */
function writeBetween(client, buffers) {
  const calls = new Calls();
  const lengths = buffers.map((buffer) => buffer.length);
  client.write('a', calls.of('before'));
  client.writev(
    buffers,
    calls.of('writev', (error, given, told) => {
      assert.strictEqual(given, buffers);
      assert.deepStrictEqual(told, lengths);
    }),
  );
  client.writev(
    buffers,
    lengths,
    calls.of('writev with lengths', (error, given, told) => assert.strictEqual(told, lengths)),
  );
  client.write('b', calls.of('after'));
  client.end(calls.of('end'));
  return {
    expected: Buffer.concat([Buffer.from('a'), ...buffers, ...buffers, Buffer.from('b')]),
    async told() {
      await calls.once();
      assert.deepStrictEqual(calls.log, [
        'before',
        'writev',
        'writev with lengths',
        'after',
        'end',
      ]);
    },
  };
}

for (const [shape, lengthOf] of Object.entries(SHAPES)) {
  for (const when of ['at once', 'before connect', 'behind a write that waits']) {
    test(`writev takes any number of buffers ${shape}, ${when}`, () =>
      leavesNothing(async (t) => {
        const hasMany = when !== 'before connect' && shape.includes('third');
        for (const count of hasMany ? [...COUNTS, MANY] : COUNTS) {
          const buffers = makeBuffers(count, lengthOf);
          let received;
          let written;
          if (when === 'before connect') {
            const server = await listen(t);
            const client = oxwire.connect(server.address().port);
            written = writeBetween(client, buffers);
            const [peer] = await once(server, 'connection');
            received = await readAll(peer);
            client.destroy();
          } else {
            const { client, peer } = await pair(t);
            const size = when === 'at once' ? 0 : await fill(client);
            written = writeBetween(client, buffers);
            received = (await readAll(peer)).subarray(size);
          }
          await written.told();
          assert.ok(received.equals(written.expected), `${count} buffers`);
        }
      }));
  }
}

test('one buffer may be in a writev any number of times', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t);
    const { expected, told } = writeBetween(client, new Array(MANY).fill(Buffer.from('xy')));
    assert.ok((await readAll(peer)).equals(expected));
    await told();
  }));
