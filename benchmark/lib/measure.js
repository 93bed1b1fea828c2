'use strict';

const { startServer, stopServers } = require('./server');
const { measureSlice } = require('./slice');

/**
 * @typedef {import('./scenarios').Scenario} Scenario
 * @typedef {import('./server').Server} Server
 * @typedef {import('./slice').Sample} Sample
 * @typedef {import('./slice').SliceSettings} SliceSettings
 * @typedef {import('./progress').Progress} Progress
 */

/**
 * Measures all servers of a scenario in turn: each cycle gives every server one slice, and every
 * other cycle goes backwards, so that what disturbs the machine disturbs all of them alike.
 *
 * @param {Scenario} scenario
 * @param {SliceSettings & { cycles: number }} settings
 * @param {Progress} progress
 * @returns {Promise<Map<string, Sample[]>>} by server, one sample a cycle
 */
async function measureScenario(scenario, settings, progress) {
  /** @type {Server[]} */
  const servers = [];
  /** @type {Map<string, Sample[]>} */
  const samples = new Map(scenario.peers.map((peer) => [peer.name, []]));
  try {
    for (const peer of scenario.peers) {
      progress.show(`${scenario.name}: starting ${peer.name}`);
      servers.push(await startServer(peer, scenario.size, settings.pinned));
    }
    for (let cycle = 0; cycle < settings.cycles; cycle++) {
      progress.step(`${scenario.name}: cycle ${cycle + 1} of ${settings.cycles}`);
      for (const server of cycle % 2 === 0 ? servers : servers.toReversed()) {
        progress.show(
          `${scenario.name}: cycle ${cycle + 1} of ${settings.cycles}, ${server.peer.name}`,
        );
        samples.get(server.peer.name)?.push(await measureSlice(scenario, server, settings));
      }
    }
  } finally {
    await stopServers(servers);
    progress.clear();
  }
  return samples;
}

module.exports = { measureScenario };
