'use strict';

const { Child } = require('./child');
const { LOAD_CORE, pinnedTo } = require('./cores');

/**
 * @typedef {import('./scenarios').Scenario} Scenario
 * @typedef {import('./server').Server} Server
 * @typedef {import('./cores').Command} Command
 *
 * What the load generator reports; latencies are null in a stream.
 *
 * @typedef {object} Sample
 * @property {number} seconds
 * @property {number} bytesPerSecond
 * @property {number} messagesPerSecond
 * @property {number | null} p50Us
 * @property {number | null} p99Us
 * @property {number} cpuSecondsPerMessage
 * @property {number} cpuSecondsPerGB
 * @property {number} serverCpuShare
 * @property {number} serverWaitShare of the time, waiting for a core that others occupied
 * @property {number} clientCpuShare
 * @property {number} peakRssBytes
 *
 * @typedef {object} SliceSettings
 * @property {string} program the load generator
 * @property {number} seconds
 * @property {number} warmup seconds
 * @property {boolean} pinned
 */

/**
 * Puts load on one server for one slice of time.
 *
 * @param {Scenario} scenario
 * @param {Server} server
 * @param {SliceSettings} settings
 * @returns {Promise<Sample>}
 */
async function measureSlice(scenario, server, settings) {
  const { name } = server.peer;
  const gone = () => server.child.failure(`server ${name} died in ${scenario.name}`);
  if (server.child.ending !== null) throw gone();

  const numbers = {
    port: server.port,
    pid: server.child.pid,
    connections: scenario.connections,
    size: scenario.size,
    depth: scenario.depth,
    seconds: settings.seconds,
    warmup: settings.warmup,
  };
  const args = Object.entries(numbers).flatMap(([key, value]) => [`--${key}`, String(value)]);
  /** @type {Command} */
  const command = [settings.program, ...args];
  const load = new Child(settings.pinned ? pinnedTo(command, LOAD_CORE) : command, false);
  await load.ended;
  if (load.ending === 'exit code 0') return JSON.parse(load.output);

  // When both have failed, the server is the cause; its end is noticed a moment later.
  await Promise.race([server.child.ended, new Promise((resolve) => setTimeout(resolve, 200))]);
  if (server.child.ending !== null) throw gone();
  throw load.failure(`load on ${name} failed in ${scenario.name}`);
}

module.exports = { measureSlice };
