'use strict';

/**
 * Figures of one slice by name; null where there is none, as no latency in a stream.
 *
 * @typedef {Record<string, number | null>} Sample
 *
 * One of those that are compared, ready to be measured.
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {() => Promise<Sample>} measure one slice
 * @property {() => Promise<void>} stop
 *
 * @typedef {import('./suite').Scenario} Scenario
 * @typedef {import('./suite').Suite} Suite
 * @typedef {import('./suite').Settings} Settings
 * @typedef {import('./progress').Progress} Progress
 */

/** One process may be up to twice as fast as the next of the same program, for the memory it got. */
const CYCLES_A_PROCESS = 2;

/**
 * Measures all peers of a scenario in turn: each cycle gives every one a slice, and every other
 * cycle goes backwards, so that what disturbs the machine disturbs all of them alike. After every
 * two cycles all of them are started anew.
 *
 * @param {Suite} suite
 * @param {Scenario} scenario
 * @param {Settings} settings
 * @param {Progress} progress
 * @returns {Promise<Map<string, Sample[]>>} by peer, one sample a cycle
 */
async function measureInTurns(suite, scenario, settings, progress) {
  /** @type {Contender[]} */
  let contenders = [];
  const stop = async () => {
    await Promise.all(contenders.map((contender) => contender.stop()));
    contenders = [];
  };
  /** @type {Map<string, Sample[]>} */
  const samples = new Map(scenario.peers.map((peer) => [peer.name, []]));
  try {
    for (let cycle = 0; cycle < settings.cycles; cycle++) {
      const title = `${scenario.name}: cycle ${cycle + 1} of ${settings.cycles}`;
      progress.step(title);
      if (cycle % CYCLES_A_PROCESS === 0) {
        await stop();
        for (const peer of scenario.peers) {
          progress.show(`${title}, starting ${peer.name}`);
          contenders.push(await suite.start(scenario, peer, settings));
        }
      }
      for (const contender of cycle % 2 === 0 ? contenders : contenders.toReversed()) {
        progress.show(`${title}, ${contender.name}`);
        samples.get(contender.name)?.push(await contender.measure());
      }
    }
  } finally {
    await stop();
    progress.clear();
  }
  return samples;
}

module.exports = { measureInTurns };
