'use strict';

// Servers in a worker of node:cluster: each listens for itself, on a port that the system shares out
// among the workers. What Node's own servers do besides is done here: the primary hears that one
// listens, and servers close when the worker is disconnected from it.

const { isMainThread } = require('worker_threads');

/** @typedef {import('./server.js')} Server */

/** Where the system spreads the connections of a port over all that share it. */
const canSharePorts = ['linux', 'freebsd'].includes(process.platform);

/** Those that listen. @type {Set<Server>} */
const servers = new Set();

/** Whether this is a worker that has something to do with its primary. */
function isWorker() {
  // Not at the top: few programs have a use for it.
  const cluster = /** @type {import('cluster').Cluster} */ (
    /** @type {unknown} */ (require('cluster'))
  );
  return isMainThread && cluster.isWorker && process.connected;
}

/** Whether a server should share its port. */
function sharesPorts() {
  return canSharePorts && isWorker();
}

/**
 * A server has begun to listen.
 *
 * @param {Server} server
 * @param {import('../../index.js').AddressInfo} address
 */
function joined(server, { address, family, port }) {
  if (!isWorker()) return;
  if (servers.size === 0) process.once('disconnect', closeAll);
  servers.add(server);
  // The message by which Node's own servers tell it.
  const addressType = family === 'IPv6' ? 6 : 4;
  process.send?.({ cmd: 'NODE_CLUSTER', act: 'listening', address, port, addressType });
}

/**
 * A server listens no more.
 *
 * @param {Server} server
 */
function left(server) {
  if (servers.delete(server) && servers.size === 0) process.removeListener('disconnect', closeAll);
}

function closeAll() {
  for (const server of servers) server.close();
}

module.exports = { joined, left, sharesPorts };
