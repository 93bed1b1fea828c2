'use strict';

const { mkdirSync, writeFileSync } = require('fs');
const path = require('path');
const { killAll } = require('./lib/child');
const { canPin, SERVER_CORE, LOAD_CORE } = require('./lib/cores');
const { machineFacts } = require('./lib/machine');
const { measureScenario } = require('./lib/measure');
const { parseOptions, USAGE } = require('./lib/options');
const { installPeers, buildLoad } = require('./lib/prepare');
const { Progress } = require('./lib/progress');
const { summarize } = require('./lib/summary');
const { formatSummary } = require('./lib/table');

/** Share of a slice that goes before it unmeasured. */
const WARMUP = 0.3;
const RESULTS = path.join(__dirname, 'results');

/** @param {import('./lib/options').Options} options */
async function run({ scenarios, cycles, seconds, publish, out }) {
  const ending = publish ? 'json' : 'local.json';
  const progress = new Progress();
  const say = (/** @type {string} */ text) => progress.step(text);
  installPeers(say);
  const program = buildLoad(say);
  progress.clear();

  const pinned = canPin();
  const settings = { cycles, seconds, warmup: Number((seconds * WARMUP).toFixed(3)), pinned };
  const machine = machineFacts();
  process.stdout.write(
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}\n` +
      `medians [quartiles] of ${cycles} slices of ${seconds} s for each server, ` +
      (pinned
        ? `servers on core ${SERVER_CORE}, load generator on core ${LOAD_CORE}\n`
        : 'not pinned to cores: expect noise\n'),
  );

  const results = [];
  for (const scenario of scenarios) {
    const samples = await measureScenario(scenario, { ...settings, program }, progress);
    const summary = summarize(samples);
    process.stdout.write(`\n${formatSummary(scenario, summary)}`);
    const result = { scenario, settings, machine, summary, samples: Object.fromEntries(samples) };
    if (out === undefined) write(path.join(RESULTS, `${scenario.name}.${ending}`), result);
    results.push(result);
  }
  if (out !== undefined) write(path.resolve(out), results);
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
    const options = parseOptions(process.argv.slice(2));
    if (options.help) process.stdout.write(USAGE);
    else await run(options);
  } catch (error) {
    process.stderr.write(`benchmark: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  } finally {
    killAll();
  }
}

main();
