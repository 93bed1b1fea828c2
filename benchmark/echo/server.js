'use strict';

const net = require('net');
const path = require('path');
const { Child } = require('../harness/child');
const { SERVER_CORE, pinnedTo } = require('../harness/cores');

/**
 * @typedef {import('./scenarios').EchoPeer} EchoPeer
 * @typedef {import('./scenarios').EchoScenario} EchoScenario
 * @typedef {import('../harness/cores').Command} Command
 *
 * @typedef {object} Server
 * @property {string} name
 * @property {number} port
 * @property {Child} child
 */

const SERVERS = path.join(__dirname, 'servers');
const START_LIMIT = 15_000;

/**
 * Starts a server and waits until it listens.
 *
 * @param {EchoScenario} scenario
 * @param {EchoPeer} peer
 * @param {boolean} pinned
 * @param {string} rust path of the servers in Rust
 * @returns {Promise<Server>}
 */
async function startServer({ size, reply }, { name, program, mode, env }, pinned, rust) {
  const port = await freePort();
  const isNode = program.endsWith('.js');
  const task = [port, mode, size].map(String);
  /** @type {Command} */
  const command = isNode
    ? [process.execPath, path.join(SERVERS, program), ...task, String(reply)]
    : [rust, program, ...task];
  const child = new Child(pinned ? pinnedTo(command, SERVER_CORE) : command, {
    tethered: isNode,
    env,
  });
  const timer = setTimeout(() => child.kill(), START_LIMIT);
  await Promise.race([child.ended, saysReady(child)]);
  clearTimeout(timer);
  if (child.ending !== null) throw child.failure(`server ${name} did not start`);
  return { name, port, child };
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

/** @param {Server} server */
async function stopServer({ child }) {
  child.kill();
  await child.ended;
}

module.exports = { startServer, stopServer };
