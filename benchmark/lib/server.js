'use strict';

const net = require('net');
const path = require('path');
const { Child } = require('./child');
const { SERVER_CORE, pinnedTo } = require('./cores');

/**
 * @typedef {import('./scenarios').Peer} Peer
 * @typedef {import('./cores').Command} Command
 *
 * @typedef {object} Server
 * @property {Peer} peer
 * @property {number} port
 * @property {Child} child
 */

const SERVERS = path.join(__dirname, '..', 'servers');
const START_LIMIT = 15_000;

/**
 * Starts a server and waits until it listens.
 *
 * @param {Peer} peer
 * @param {number} size bytes of a message
 * @param {boolean} pinned
 * @returns {Promise<Server>}
 */
async function startServer(peer, size, pinned) {
  const port = await freePort();
  /** @type {Command} */
  const command = [
    process.execPath,
    path.join(SERVERS, peer.file),
    String(port),
    peer.mode,
    String(size),
  ];
  const child = new Child(pinned ? pinnedTo(command, SERVER_CORE) : command, true);
  const timer = setTimeout(() => child.kill(), START_LIMIT);
  await Promise.race([child.ended, saysReady(child)]);
  clearTimeout(timer);
  if (child.ending !== null) throw child.failure(`server ${peer.name} did not start`);
  return { peer, port, child };
}

/**
 * @param {Child} child
 * @returns {Promise<void>}
 */
function saysReady(child) {
  return new Promise((resolve) => {
    child.process.stdout?.on('data', () => {
      if (child.output.startsWith('ready\n')) resolve();
    });
  });
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {net.AddressInfo} */ (probe.address());
      probe.close(() => resolve(port));
    });
  });
}

/** @param {Server[]} servers */
async function stopServers(servers) {
  for (const { child } of servers) child.kill();
  await Promise.all(servers.map(({ child }) => child.ended));
}

module.exports = { startServer, stopServers };
