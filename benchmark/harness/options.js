'use strict';

const { parseArgs } = require('util');

/** @param {Scenario[]} scenarios */
function usage(scenarios) {
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  return `Usage: node benchmark/run.js [options]

  --scenario A,B   scenarios to run, or all of those that begin with A- or B- (all)
  --peers A,B      peers to run; the first is compared with the others (all of the scenario)
  --cycles N       rounds in which each peer gets one slice (8)
  --seconds S      length of a slice (0.4)
  --quick          3 cycles of 0.2 s: to see that it works, not to quote
  --publish        write to benchmark/results/SCENARIO.json, which git keeps, instead of
                   SCENARIO.local.json beside it, which it does not
  --out FILE       write all results to FILE instead
  --help           this text

Scenarios:
${scenarios.map(({ name, description }) => `  ${name.padEnd(width)} ${description}`).join('\n')}
`;
}

/**
 * @typedef {import('./suite').Scenario} Scenario
 *
 * @typedef {object} Options
 * @property {boolean} help
 * @property {Scenario[]} scenarios with the servers that were chosen
 * @property {number} cycles
 * @property {number} seconds
 * @property {boolean} publish
 * @property {string} [out]
 */

/**
 * Reads the command line.
 *
 * @param {string[]} args
 * @param {Scenario[]} all that there are
 * @returns {Options}
 * @throws {Error} with a sentence for the user
 */
function parseOptions(args, all) {
  const { values } = parseArgs({
    args,
    options: {
      scenario: { type: 'string' },
      peers: { type: 'string' },
      cycles: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const cycles = Number(values.cycles ?? (values.quick ? 3 : 8));
  const seconds = Number(values.seconds ?? (values.quick ? 0.2 : 0.4));
  if (!Number.isInteger(cycles) || cycles < 1 || cycles > 1000) {
    throw new Error(`--cycles takes a whole number from 1 to 1000, not "${values.cycles}"`);
  }
  if (!(seconds >= 0.05 && seconds <= 60)) {
    throw new Error(`--seconds takes a number from 0.05 to 60, not "${values.seconds}"`);
  }
  let scenarios = values.scenario === undefined ? all : choose(values.scenario, all);
  if (values.peers !== undefined) scenarios = withPeers(scenarios, values.peers.split(','), all);
  return {
    help: values.help,
    scenarios,
    cycles,
    seconds,
    publish: values.publish,
    out: values.out,
  };
}

/**
 * @param {string} list
 * @param {Scenario[]} all
 */
function choose(list, all) {
  const chosen = list.split(',').flatMap((name) => {
    const found = all.filter((one) => one.name === name || one.name.startsWith(`${name}-`));
    if (found.length > 0) return found;
    const known = all.map((candidate) => candidate.name).join(', ');
    throw new Error(`there is no scenario "${name}", only ${known}`);
  });
  return [...new Set(chosen)];
}

/**
 * @param {Scenario[]} scenarios
 * @param {string[]} names
 * @param {Scenario[]} all
 * @returns {Scenario[]}
 */
function withPeers(scenarios, names, all) {
  const known = new Set(all.flatMap(({ peers }) => peers.map((peer) => peer.name)));
  for (const name of names) {
    if (!known.has(name)) {
      throw new Error(`there is no peer "${name}", only ${[...known].join(', ')}`);
    }
  }
  // Not every peer takes part in every scenario.
  const chosen = scenarios.map((scenario) => ({
    ...scenario,
    peers: names.flatMap((name) => scenario.peers.filter((peer) => peer.name === name)),
  }));
  const left = chosen.filter(({ peers }) => peers.length > 0);
  if (left.length > 0) return left;
  throw new Error(`${names.join(', ')} takes part in none of the scenarios`);
}

module.exports = { usage, parseOptions };
