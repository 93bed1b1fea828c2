'use strict';

// Pipes for tests: two connections of oxwire, and a peer of each.
//
//   left ⇄ source ═ target ⇄ right

const fs = require('fs');
const { createHash, randomFillSync } = require('crypto');
const { closed, pairWithNode, turn } = require('./sockets');

/** @typedef {import('net').Socket} Socket */
/** @typedef {import('../..').Connection} Connection */
/** @typedef {{ source: Connection, target: Connection, left: Socket, right: Socket }} Ends */

const CHUNK = 64 * 1024;
/** A length that no multiple of the chunks is, so that each begins elsewhere. */
const noise = randomFillSync(Buffer.alloc((1 << 20) + 7919));

/**
 * Two connections that are not piped yet; their peers are sockets of node:net.
 *
 * @param {import('node:test').TestContext} t
 * @returns {Promise<Ends>}
 */
async function ends(t) {
  const [front, back] = [await pairWithNode(t), await pairWithNode(t)];
  return {
    source: front.connection,
    target: back.connection,
    left: front.socket,
    right: back.socket,
  };
}

/**
 * Begins a pipe.
 *
 * @param {{ source: Connection, target: Connection }} ends
 * @param {import('../..').PipeOptions} [options]
 * @returns {{ log: string[], told: Promise<{ error: any, result: any }>, over: Promise<unknown> }}
 *   all that is heard of it, in order; what its callback is told; the close of both
 */
function begin({ source, target }, options) {
  const log = [];
  const both = source === target ? { source } : { source, target };
  for (const [name, connection] of Object.entries(both)) {
    for (const event of ['connect', 'error', 'end', 'finish', 'close']) {
      connection.on(event, () => log.push(`${name} ${event}`));
    }
  }
  const over = Promise.all(Object.values(both).map(closed));
  const told = new Promise((resolve) => {
    source.pipe(target, options, (error, result) => {
      log.push('callback');
      resolve({ error, result });
    });
  });
  return { log, told, over };
}

/**
 * Begins a pipe that is seen to run: a byte has gone through it each way.
 *
 * @param {Ends} ends
 * @param {import('../..').PipeOptions} [options]
 */
async function beginRunning(ends, options) {
  const begun = begin(ends, options);
  await passByte(ends.left, ends.right);
  await passByte(ends.right, ends.left);
  return begun;
}

/**
 * @param {Socket} from
 * @param {Socket} to
 */
function passByte(from, to) {
  from.write('.');
  return new Promise((resolve) => {
    to.once('data', () => {
      to.pause();
      resolve(undefined);
    });
  });
}

/**
 * Sends so many bytes, and the end.
 *
 * @param {Socket} socket
 * @param {number} size
 * @returns {Promise<{ size: number, digest: string }>}
 */
async function send(socket, size) {
  const hash = createHash('sha1');
  let place = 0;
  for (let left = size; left > 0; left -= CHUNK) {
    const chunk = noise.subarray(place, place + Math.min(CHUNK, left));
    place = (place + 7919) % (noise.length - CHUNK);
    hash.update(chunk);
    await new Promise((resolve) => socket.write(chunk, resolve));
  }
  socket.end();
  return { size, digest: hash.digest('hex') };
}

/**
 * Receives until the end.
 *
 * @param {Socket} socket
 * @param {(size: number) => void} [onchunk] hears how many bytes there are so far
 * @returns {Promise<{ size: number, digest: string }>}
 */
function receive(socket, onchunk = () => {}) {
  const hash = createHash('sha1');
  let size = 0;
  socket.on('data', (/** @type {Buffer} */ chunk) => {
    hash.update(chunk);
    size += chunk.length;
    onchunk(size);
  });
  return new Promise((resolve, reject) => {
    socket.on('end', () => resolve({ size, digest: hash.digest('hex') }));
    socket.on('error', reject);
    socket.resume();
  });
}

/**
 * Sends until the socket is closed.
 *
 * @param {Socket} socket
 */
function pump(socket) {
  const chunk = noise.subarray(0, CHUNK);
  (function next() {
    if (socket.writable) socket.write(chunk, (error) => error || setImmediate(next));
  })();
}

/**
 * Waits, some turns, for something that no event tells of.
 *
 * @param {() => boolean} condition
 */
async function until(condition) {
  while (!condition()) await turn();
}

/** How many descriptors this process has open; it takes one to count them. */
function countDescriptors() {
  return fs.readdirSync('/proc/self/fd').length;
}

module.exports = { begin, beginRunning, countDescriptors, ends, pump, receive, send, until };
