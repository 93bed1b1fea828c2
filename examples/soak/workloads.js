'use strict';

// What a round of the soak does: each workload opens its own sockets on loopback, checks every byte,
// and has closed everything when it is done.

const assert = require('node:assert');
const { once } = require('node:events');
const { Worker } = require('node:worker_threads');
const { connect, createServer, pool } = require('oxwire');

/** @typedef {import('oxwire').Connection} Connection */

/** A piece of text whose parts are all different, of `length` bytes. @param {number} length */
function pattern(length) {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7) & 255;
  return bytes;
}

const DATA = pattern(1 << 20);

/**
 * @param {Connection} socket
 * @param {Uint8Array | string} data
 * @returns {Promise<void>}
 */
function write(socket, data) {
  return new Promise((resolve, reject) => {
    socket.write(/** @type {Buffer} */ (data), (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * What comes until the end, or until there are `length` bytes.
 *
 * @param {Connection} socket
 * @param {number} [length]
 * @returns {Promise<Buffer>}
 */
async function readAll(socket, length = Infinity) {
  const parts = [];
  let total = 0;
  while (total < length) {
    const part = await readOnce(socket, Buffer.allocUnsafe(Math.min(65536, length - total)));
    if (part.length === 0) break;
    parts.push(part);
    total += part.length;
  }
  return Buffer.concat(parts);
}

/**
 * @param {Connection} socket
 * @param {Buffer} buffer
 * @returns {Promise<Buffer>}
 */
function readOnce(socket, buffer) {
  return new Promise((resolve, reject) => {
    socket.read(buffer, (error, given, count) => {
      if (error) reject(error);
      else resolve(given.subarray(0, count));
    });
  });
}

/** @param {import('node:events').EventEmitter} emitter */
const closeOf = (emitter) => new Promise((resolve) => emitter.once('close', resolve));

/**
 * Runs `body` with the two ends of `count` connections; closes them, and waits until they are.
 *
 * @param {number} count
 * @param {(client: Connection, peer: Connection, index: number) => unknown} body
 * @param {import('oxwire').ConnectionOptions} [options]
 */
async function withPairs(count, body, options = {}) {
  const server = createServer(options);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** @type {Promise<unknown>[]} */
  const closes = [closeOf(server)];
  for (let i = 0; i < count; i++) {
    const client = connect(server.address().port, '127.0.0.1', options);
    const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
    for (const end of [client, peer]) closes.push(closeOf(end));
    closes.push(
      (async () => {
        await body(client, peer, i);
        client.destroy();
        peer.destroy();
      })(),
    );
  }
  server.close();
  await Promise.all(closes);
}

/** Messages there and back, one at a time, with a buffer at each end. */
function echo() {
  return withPairs(20, async (client, peer) => {
    const buffer = Buffer.alloc(4096);
    peer.read(buffer, function onread(error, given, count) {
      if (!error && count > 0) peer.write(given, count, () => peer.read(buffer, onread));
    });
    for (let i = 0; i < 50; i++) {
      const sent = DATA.subarray(i, i + 1 + i * 40);
      await write(client, sent);
      assert.ok((await readAll(client, sent.length)).equals(sent));
    }
  });
}

/** Small writes without waiting, in strings and buffers, answered from the pool. */
function pipelined() {
  return withPairs(5, async (client, peer) => {
    peer.read(pool, function onread(error, buffer, count) {
      if (error || buffer === null) return;
      peer.write(buffer, count, { release: true }, () => peer.read(pool, onread));
    });
    const sent = [];
    for (let i = 0; i < 500; i++) {
      const text = `message ${i} – ${'ж'.repeat(i % 7)}`;
      sent.push(text);
      if (i % 2 === 0) client.write(text);
      else client.write(Buffer.from(text));
    }
    const all = Buffer.from(sent.join(''));
    assert.ok((await readAll(client, all.length)).equals(all));
  });
}

/** Many buffers at once, empty ones among them. */
function vectored() {
  return withPairs(4, async (client, peer, index) => {
    const buffers = [];
    for (let i = 0; i < 1500; i++) buffers.push(DATA.subarray(i, i + ((i * (index + 1)) % 90)));
    const all = Buffer.concat(buffers);
    client.writev(buffers);
    client.end();
    assert.ok((await readAll(peer)).equals(all));
  });
}

/** More than the kernel takes, to a reader that stops now and then. */
function backpressure() {
  return withPairs(3, async (client, peer) => {
    let sent = 0;
    const send = () => {
      while (sent < 8) {
        sent++;
        if (!client.write(DATA)) break;
      }
      if (sent === 8) client.end();
      else client.once('drain', send);
    };
    send();
    for (let received = 0; received < 8; received++) {
      peer.pause();
      setTimeout(() => peer.resume(), 2);
      assert.ok((await readAll(peer, DATA.length)).equals(DATA));
    }
    assert.strictEqual((await readAll(peer)).length, 0);
  });
}

/** One side ends, the other goes on. */
function halfOpen() {
  return withPairs(
    10,
    async (client, peer) => {
      client.write('question');
      client.end();
      assert.strictEqual(String(await readAll(peer)), 'question');
      peer.write('answer');
      peer.end();
      assert.strictEqual(String(await readAll(client)), 'answer');
    },
    { allowHalfOpen: true },
  );
}

/** Peers that go at any moment, with reads and writes pending. */
function goners() {
  const ways = /** @type {const} */ (['destroy', 'close', 'end', 'resetAndDestroy']);
  return withPairs(24, async (client, peer, index) => {
    const way = ways[index % ways.length];
    const told = [];
    for (let i = 0; i < 4; i++) client.write(DATA, () => told.push('write'));
    client.read(Buffer.alloc(10), () => told.push('read'));
    const goesFirst = index % 3 === 0 ? client : peer;
    if (index % 2 === 0) await readOnce(peer, Buffer.alloc(1000));
    const closes = closeOf(client);
    goesFirst[way]();
    // Whoever has ended his side waits for the other.
    if (way === 'end') client.destroy();
    else if (goesFirst === peer) setTimeout(() => client.destroy(), 20);
    await closes;
    assert.strictEqual(told.length, 5);
  });
}

/** Attempts that are refused, aborted, or given up. */
async function failing() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await closeOf(probe);
  for (let i = 0; i < 20; i++) {
    const abort = new AbortController();
    const socket = connect(port, '127.0.0.1', { signal: abort.signal });
    let told = 0;
    socket.on('error', () => {});
    socket.write('nobody hears this', () => told++);
    socket.read(Buffer.alloc(10), () => told++);
    const close = closeOf(socket);
    if (i % 3 === 1) abort.abort();
    if (i % 3 === 2) socket.destroy();
    await close;
    assert.strictEqual(told, 2);
  }
}

/** Bytes that no JavaScript sees on their way; every other pipe is given up in the middle. */
async function pipes() {
  const echoing = createServer((socket) => void socket.pipe(socket, () => {}));
  echoing.listen(0, '127.0.0.1');
  await once(echoing, 'listening');
  let index = 0;
  const proxy = createServer((socket) => {
    const number = index++;
    const upstream = connect(echoing.address().port, '127.0.0.1');
    upstream.on('error', () => {});
    socket.pipe(upstream, { splice: number % 4 === 0 }, () => {});
    if (number % 2 === 1) setTimeout(() => socket.destroy(), 5);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const clients = Array.from({ length: 12 }, async (_, number) => {
    const client = connect(proxy.address().port, '127.0.0.1');
    const close = closeOf(client);
    await once(client, 'connect');
    client.write(DATA, () => {});
    client.end();
    try {
      const received = await readAll(client);
      if (number % 2 === 0) assert.ok(received.equals(DATA));
    } catch (error) {
      if (number % 2 === 0) throw error;
    }
    client.destroy();
    await close;
  });
  await Promise.all(clients);
  const left = [...proxy.connections, ...echoing.connections];
  const closes = [proxy, echoing, ...left].map(closeOf);
  for (const socket of left) socket.destroy();
  proxy.close();
  echoing.close();
  await Promise.all(closes);
}

/** Connections on which nothing moves. */
function idle() {
  return withPairs(5, async (client, peer) => {
    peer.setTimeout(10);
    client.setKeepAlive(true, 5000).setNoDelay(false);
    await once(peer, 'timeout');
    peer.setTimeout(0);
  });
}

/** Buffers that are taken away while they are lent. */
function detached() {
  return withPairs(5, async (client, peer) => {
    const lent = new Uint8Array(1000);
    const reading = readOnce(client, /** @type {Buffer} */ (lent));
    structuredClone(lent.buffer, { transfer: [lent.buffer] });
    peer.write('x');
    await assert.rejects(reading, { code: 'ERR_INVALID_STATE' });
    assert.strictEqual(String(await readAll(client, 1)), 'x');
  });
}

/** A worker in mid-traffic that is stopped. */
async function worker() {
  const program = `
    const { connect, createServer } = require(${JSON.stringify(require.resolve('oxwire'))});
    const { parentPort } = require('worker_threads');
    const server = createServer((socket) => socket.pipe(socket, () => {}));
    server.listen(0, '127.0.0.1', () => {
      for (let i = 0; i < 5; i++) {
        const socket = connect(server.address().port, '127.0.0.1');
        const buffer = Buffer.alloc(65536);
        socket.read(buffer, function onread(error, given, count) {
          if (error || count === 0) return;
          socket.write(given, count);
          socket.read(buffer, onread);
          parentPort.postMessage(count);
        });
        socket.write('on and on');
      }
    });`;
  const thread = new Worker(program, { eval: true });
  await once(thread, 'message');
  await thread.terminate();
}

module.exports = {
  workloads: [
    echo,
    pipelined,
    vectored,
    backpressure,
    halfOpen,
    goners,
    failing,
    pipes,
    idle,
    detached,
    worker,
  ],
};
