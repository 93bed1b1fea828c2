'use strict';

/**
 * One of those that a scenario compares.
 *
 * @typedef {object} Peer
 * @property {string} name what `--peers` and the tables call it
 *
 * What is measured, and on whom.
 *
 * @typedef {object} Scenario
 * @property {string} name
 * @property {string} description
 * @property {import('./units').UnitName} unit what the cost is counted by
 * @property {Peer[]} peers the first is the one that the others are compared with
 *
 * @typedef {object} Settings
 * @property {number} cycles
 * @property {number} seconds length of a slice
 * @property {number} warmup seconds before it
 * @property {boolean} pinned whether processes stay on cores of their own
 *
 * Scenarios that are measured in the same way.
 *
 * @typedef {object} Suite
 * @property {Scenario[]} scenarios
 * @property {(say: (line: string) => void) => void} prepare builds what they need
 * @property {(scenario: any, peer: any, settings: Settings) => Promise<import('./turns').Contender>} start
 */

/** @type {Suite[]} */
const SUITES = [require('../echo/suite'), require('../one-process/suite')];

const SCENARIOS = SUITES.flatMap(({ scenarios }) => scenarios);

/** @param {Scenario} scenario */
function suiteOf({ name }) {
  const suite = SUITES.find(({ scenarios }) => scenarios.some((one) => one.name === name));
  if (suite === undefined) throw new Error(`no suite has a scenario "${name}"`);
  return suite;
}

module.exports = { SCENARIOS, suiteOf };
