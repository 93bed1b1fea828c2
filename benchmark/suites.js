'use strict';

/** @typedef {import('./harness/suite').Suite} Suite */

/** All that can be measured. @type {Suite[]} */
const SUITES = [require('./echo/suite'), require('./one-process/suite')];

const SCENARIOS = SUITES.flatMap(({ scenarios }) => scenarios);

/** @param {import('./harness/suite').Scenario} scenario */
function suiteOf({ name }) {
  const suite = SUITES.find(({ scenarios }) => scenarios.some((one) => one.name === name));
  if (suite === undefined) throw new Error(`no suite has a scenario "${name}"`);
  return suite;
}

module.exports = { SCENARIOS, suiteOf };
