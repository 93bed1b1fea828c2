'use strict';

const { mkdirSync, writeFileSync } = require('fs');
const path = require('path');
const { killAll } = require('./harness/child');
const { whyNotPinned, SERVER_CORE, LOAD_CORE } = require('./harness/cores');
const { machineFacts } = require('./harness/machine');
const { parseOptions, usage } = require('./harness/options');
const { installPeers } = require('./harness/prepare');
const { Progress } = require('./harness/progress');
const { summarize } = require('./harness/summary');
const { formatSummary } = require('./harness/table');
const { measureInTurns } = require('./harness/turns');
const { UNITS } = require('./harness/units');
const { SCENARIOS, suiteOf } = require('./suites');

/** Share of a slice that goes before it unmeasured. */
const WARMUP = 0.3;
/** Seconds that a slice takes besides, and that a server takes to start. */
const AROUND = 0.1;
const STARTING = 0.15;
const RESULTS = path.join(__dirname, 'results');

/** @param {import('./harness/options').Options} options */
async function run({ scenarios, cycles, seconds, publish, out }) {
  const ending = publish ? 'json' : 'local.json';
  const progress = new Progress();
  const say = (/** @type {string} */ text) => progress.step(text);
  installPeers(say);
  for (const suite of new Set(scenarios.map(suiteOf))) suite.prepare(say);
  progress.clear();

  const unpinned = whyNotPinned();
  const pinned = unpinned === undefined;
  const settings = { cycles, seconds, warmup: Number((seconds * WARMUP).toFixed(3)), pinned };
  const machine = machineFacts();
  process.stdout.write(
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}\n` +
      `medians [quartiles] of ${cycles} slices of ${seconds} s for each peer, ` +
      (pinned
        ? `servers on core ${SERVER_CORE}, load generator on core ${LOAD_CORE}\n`
        : `not pinned to cores, since ${unpinned}: servers and load generator disturb each other, do not trust the figures\n`) +
      `this takes about ${minutes(scenarios, settings)}\n`,
  );

  const results = [];
  for (const scenario of scenarios) {
    const samples = await measureInTurns(suiteOf(scenario), scenario, settings, progress);
    const summary = summarize(samples, UNITS[scenario.unit]);
    process.stdout.write(`\n${formatSummary(scenario, summary)}`);
    const result = { scenario, settings, machine, summary, samples: Object.fromEntries(samples) };
    if (out === undefined) write(path.join(RESULTS, `${scenario.name}.${ending}`), result);
    results.push(result);
  }
  if (out !== undefined) write(path.resolve(out), results);
}

/**
 * @param {import('./harness/suite').Scenario[]} scenarios
 * @param {import('./harness/suite').Settings} settings
 */
function minutes(scenarios, { cycles, seconds, warmup }) {
  const contenders = scenarios.reduce((sum, { peers }) => sum + peers.length, 0);
  const total = contenders * (cycles * (seconds + warmup + AROUND) + STARTING);
  return total < 90 ? `${Math.ceil(total)} s` : `${Math.ceil(total / 60)} minutes`;
}

/**
 * @param {string} file
 * @param {unknown} value
 */
function write(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

async function main() {
  // The children end in the exit handler of lib/child.js.
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
  try {
    const options = parseOptions(process.argv.slice(2), SCENARIOS);
    if (options.help) process.stdout.write(usage(SCENARIOS));
    else await run(options);
  } catch (error) {
    process.stderr.write(`benchmark: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  } finally {
    killAll();
  }
}

main();
