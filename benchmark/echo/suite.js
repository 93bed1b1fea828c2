'use strict';

const { buildRust, needLinux } = require('../harness/prepare');
const { SCENARIOS } = require('./scenarios');
const { startServer, stopServer } = require('./server');
const { measureSlice } = require('./slice');

/**
 * @typedef {import('./scenarios').EchoScenario} EchoScenario
 * @typedef {import('./scenarios').EchoPeer} EchoPeer
 * @typedef {import('../harness/suite').Settings} Settings
 * @typedef {import('../harness/turns').Contender} Contender
 */

/** The load generator and the servers in Rust. @type {Record<string, string>} */
let programs = {};

/** @param {(line: string) => void} say */
function prepare(say) {
  needLinux();
  programs = buildRust(['load', 'peers'], say);
}

/**
 * @param {EchoScenario} scenario
 * @param {EchoPeer} peer
 * @param {Settings} settings
 * @returns {Promise<Contender>}
 */
async function start(scenario, peer, settings) {
  const { name } = peer;
  const begin = () => startServer(scenario, peer, settings.pinned, programs.peers);
  if (scenario.load === 'idle') {
    // What a process needed once it never gives back: each slice has one of its own.
    const measure = async () => {
      const server = await begin();
      try {
        return await measureSlice(scenario, server, settings, programs.load);
      } finally {
        await stopServer(server);
      }
    };
    return { name, measure, stop: async () => {} };
  }
  const server = await begin();
  return {
    name,
    measure: () => measureSlice(scenario, server, settings, programs.load),
    stop: () => stopServer(server),
  };
}

module.exports = { scenarios: SCENARIOS, prepare, start };
