'use strict';

// Sockets for tests: real ones, on loopback, closed when the test ends.

const net = require('net');
const { once } = require('events');
const oxwire = require('../..');

/** What is to be closed when a test ends. @typedef {{ after: (end: () => unknown) => void }} Scope */

/**
 * A server that listens.
 *
 * @param {Scope} t
 * @param {import('../..').ServerOptions | null} [options]
 * @param {string} [address]
 */
async function listen(t, options = null, address = '127.0.0.1') {
  const server = oxwire.createServer(options);
  server.listen(0, address);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const connection of server.connections) connection.destroy();
  });
  return server;
}

/**
 * Two ends of a connection, both of oxwire: `client` connected to `server`, which accepted `peer`.
 *
 * @param {Scope} t
 * @param {import('../..').ServerOptions} [options] for both ends
 */
async function pair(t, options = {}) {
  const server = await listen(t, options);
  const client = oxwire.connect(server.address().port, options);
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  t.after(() => client.destroy());
  return { server, client, peer };
}

/**
 * A connection of oxwire and, at its other end, a socket of node:net.
 *
 * @param {Scope} t
 * @param {import('../..').ServerOptions} [options]
 */
async function pairWithNode(t, options = {}) {
  const server = await listen(t, options);
  const socket = net.connect({ port: server.address().port, allowHalfOpen: true });
  socket.on('error', () => {});
  const [[connection]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
  t.after(() => socket.destroy());
  return { server, connection, socket };
}

/**
 * A port where nobody listens.
 */
async function freePort() {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * A read, as a promise of what was read: a copy, empty at the end.
 *
 * @param {import('../..').Connection} connection
 * @param {number} [size]
 * @returns {Promise<Buffer>}
 */
function read(connection, size = 65536) {
  return new Promise((resolve, reject) => {
    connection.read(Buffer.alloc(size), (error, buffer, count) => {
      if (error) reject(error);
      else resolve(Buffer.from(buffer.subarray(0, count)));
    });
  });
}

/**
 * All that comes until the end, or until there are `size` bytes.
 *
 * @param {import('../..').Connection} connection
 * @param {number} [size]
 */
async function readAll(connection, size = Infinity) {
  const chunks = [];
  let total = 0;
  while (total < size) {
    const chunk = await read(connection, Math.min(65536, size - total));
    if (chunk.length === 0) break;
    chunks.push(chunk);
    total += chunk.length;
  }
  return Buffer.concat(chunks);
}

/**
 * A write, as a promise.
 *
 * @param {import('../..').Connection} connection
 * @param {Uint8Array | string} data
 * @param {any} [length]
 */
function write(connection, data, length) {
  return new Promise((resolve, reject) => {
    connection.write(/** @type {any} */ (data), length, (error) => {
      if (error) reject(error);
      else resolve(undefined);
    });
  });
}

/**
 * The close of a connection, whatever error comes before it.
 *
 * @param {import('events').EventEmitter} connection
 */
function closed(connection) {
  return new Promise((resolve) => connection.on('close', () => resolve(undefined)));
}

/** The next turn of the event loop, after what is due in this one. */
function turn() {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Some turns, enough for whatever is on its way through loopback to come or not to come.
 *
 * @param {number} [count]
 */
async function turns(count = 20) {
  for (let i = 0; i < count; i++) await turn();
}

/**
 * Fills whatever lies between the ends, so that later writes wait.
 *
 * @param {import('../..').Connection} connection
 * @returns {Promise<number>} how many bytes were written and may not have left
 */
async function fill(connection) {
  const chunk = Buffer.alloc(1 << 20, 'x');
  let total = 0;
  let completed = 0;
  for (;;) {
    connection.write(chunk, () => completed++);
    total += chunk.length;
    await turns(5);
    if (completed * chunk.length < total) return total;
  }
}

/**
 * What a connection emits, in order, by name.
 *
 * @param {import('../..').Connection} connection
 * @param {string[]} [log]
 */
function logEvents(connection, log = []) {
  for (const event of ['connect', 'error', 'end', 'finish', 'close']) {
    connection.on(event, () => log.push(event));
  }
  return log;
}

module.exports = {
  closed,
  fill,
  freePort,
  listen,
  logEvents,
  pair,
  pairWithNode,
  read,
  readAll,
  turn,
  turns,
  write,
};
