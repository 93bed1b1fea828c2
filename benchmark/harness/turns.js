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

/**
 * Measures all peers of a scenario in turn: each cycle gives every one a slice, and every other
 * cycle goes backwards, so that what disturbs the machine disturbs all of them alike.
 *
 * @param {Suite} suite
 * @param {Scenario} scenario
 * @param {Settings} settings
 * @param {Progress} progress
 * @returns {Promise<Map<string, Sample[]>>} by peer, one sample a cycle
 */
async function measureInTurns(suite, scenario, settings, progress) {
  /** @type {Contender[]} */
  const contenders = [];
  /** @type {Map<string, Sample[]>} */
  const samples = new Map(scenario.peers.map((peer) => [peer.name, []]));
  try {
    for (const peer of scenario.peers) {
      progress.show(`${scenario.name}: starting ${peer.name}`);
      contenders.push(await suite.start(scenario, peer, settings));
    }
    for (let cycle = 0; cycle < settings.cycles; cycle++) {
      const title = `${scenario.name}: cycle ${cycle + 1} of ${settings.cycles}`;
      progress.step(title);
      for (const contender of cycle % 2 === 0 ? contenders : contenders.toReversed()) {
        progress.show(`${title}, ${contender.name}`);
        samples.get(contender.name)?.push(await contender.measure());
      }
    }
  } finally {
    await Promise.all(contenders.map((contender) => contender.stop()));
    progress.clear();
  }
  return samples;
}

module.exports = { measureInTurns };
