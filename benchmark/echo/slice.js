'use strict';

const { Child } = require('../harness/child');
const { LOAD_CORE, pinnedTo } = require('../harness/cores');

/**
 * @typedef {import('./scenarios').EchoScenario} EchoScenario
 * @typedef {import('./server').Server} Server
 * @typedef {import('../harness/cores').Command} Command
 * @typedef {import('../harness/suite').Settings} Settings
 * @typedef {import('../harness/turns').Sample} Sample
 */

/**
 * Puts load on one server for one slice of time.
 *
 * @param {EchoScenario} scenario
 * @param {Server} server
 * @param {Settings} settings
 * @param {string} program the load generator
 * @param {string[]} [flags] more of it
 * @returns {Promise<Sample>}
 */
async function measureSlice(scenario, server, settings, program, flags = []) {
  const { name } = server;
  const gone = () => server.child.failure(`server ${name} died in ${scenario.name}`);
  if (server.child.ending !== null) throw gone();

  const numbers = {
    port: server.port,
    pid: server.child.pid,
    connections: scenario.connections,
    size: scenario.size,
    reply: scenario.reply,
    depth: scenario.depth,
    seconds: settings.seconds,
    warmup: settings.warmup,
  };
  const args = Object.entries(numbers).flatMap(([key, value]) => [`--${key}`, String(value)]);
  if (scenario.load !== 'traffic') args.push(`--${scenario.load}`);
  /** @type {Command} */
  const command = [program, ...args, ...flags];
  const load = new Child(settings.pinned ? pinnedTo(command, LOAD_CORE) : command);
  await load.ended;
  if (load.ending === 'exit code 0') return JSON.parse(load.output);

  // When both have failed, the server is the cause; its end is noticed a moment later.
  await Promise.race([server.child.ended, new Promise((resolve) => setTimeout(resolve, 200))]);
  if (server.child.ending !== null) throw gone();
  throw load.failure(`load on ${name} failed in ${scenario.name}`);
}

module.exports = { measureSlice };
