'use strict';

// Puts the published figures into the README: everything between the two marks there comes from
// benchmark/results. `npm run bench -- --publish`, then `node benchmark/readme.js`.

const { existsSync, readFileSync, writeFileSync } = require('fs');
const path = require('path');
const { summarize } = require('./harness/summary');
const { SCENARIOS } = require('./suites');
const { UNITS } = require('./harness/units');

const README = path.join(__dirname, '../README.md');
const BEGIN = '<!-- figures, from benchmark/results by benchmark/readme.js -->';
const END = '<!-- end of figures -->';

/** Those of oxwire whose figures git keeps. */
const PUBLISHED = SCENARIOS.filter(
  ({ name, peers }) => peers[0].name.startsWith('oxwire') && existsSync(fileOf(name)),
);

/** @param {string} name */
function fileOf(name) {
  return path.join(__dirname, 'results', `${name}.json`);
}

/** @param {string} name */
function load(name) {
  return JSON.parse(readFileSync(fileOf(name), 'utf8'));
}

/** @param {{ median: number, low: number, high: number }} spread */
function cell({ median, low, high }) {
  const digits = high < 10 ? 2 : 1;
  return `${median.toFixed(digits)} [${low.toFixed(digits)}–${high.toFixed(digits)}]`;
}

/** Columns, and the peer that each is about. */
const COLUMNS = [
  ['turbo-net', 'turbo-net'],
  ['node:net', 'node-net'],
  ['node:net, corked', 'node-net-cork'],
  ['epoll in Rust', 'epoll'],
  ['tokio in Rust', 'tokio'],
];

/** What the cost is where it is not the CPU time of a message. @type {Record<string, string>} */
const COSTS = {
  byte: 'of streams, for a gigabyte',
  connection: 'where connections are opened and reset, for a connection',
  memory: 'where they are idle, not CPU time but memory at its peak',
};

/** Servers of oxwire that have a row of their own, and what it says of them. */
const OWN_ROWS = [
  ['oxwire-pool', 'oxwire reads into its pool'],
  ['oxwire-als', 'oxwire with a store of AsyncLocalStorage'],
  ['oxwire-promises', 'oxwire/promises'],
];

/**
 * A result as it is, and once more for each of those servers that took part.
 *
 * @param {any} result
 */
function withOwnRows({ samples, scenario }) {
  const { description } = scenario;
  const unit = UNITS[/** @type {import('./harness/units').UnitName} */ (scenario.unit)];
  const row = (/** @type {string} */ name, /** @type {string} */ title) => {
    const own = /** @type {[string, any]} */ ([name, samples[name]]);
    const others = Object.entries(samples).filter(([other]) => other !== name);
    return { title, summary: summarize(new Map([own, ...others]), unit) };
  };
  const more = OWN_ROWS.filter(([name]) => name in samples);
  return [
    row(scenario.peers[0].name, description),
    ...more.map(([name, title]) => row(name, `${description}; ${title}`)),
  ];
}

/** The figures as the README has them. */
function figures() {
  const loaded = PUBLISHED.map(({ name }) => load(name));
  const results = loaded.flatMap(withOwnRows);
  const ratioOf = (/** @type {any} */ { summary }, /** @type {string} */ peer) =>
    summary.ratios.find((/** @type {any} */ one) => one.peer === peer);
  const columns = COLUMNS.filter(([, peer]) => results.some((result) => ratioOf(result, peer)));
  const rows = results.map((result) => {
    const cells = columns.map(([, peer]) => {
      const ratio = ratioOf(result, peer);
      return ratio ? cell(ratio.cost) : '–';
    });
    return `| ${result.title} | ${cells.join(' | ')} |`;
  });
  const costs = Object.keys(COSTS).filter((unit) => PUBLISHED.some((one) => one.unit === unit));
  const { machine, settings } = loaded[0];
  return [
    BEGIN,
    '',
    `How many times as much CPU the others take for a message (${costs.map((unit) => COSTS[unit]).join('; ')}): medians and [quartiles] of the ratios within a cycle. Above 1 oxwire is cheaper.`,
    '',
    `| server | ${columns.map(([title]) => title).join(' | ')} |`,
    `| --- | ${columns.map(() => '---').join(' | ')} |`,
    ...rows,
    '',
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, turbo-net ${machine.packages['turbo-net']}, ${machine.date.slice(0, 10)}; ${settings.cycles} slices of ${settings.seconds} s for each server, in turn; server and load generator each on a core of its own.`,
    '',
    END,
  ].join('\n');
}

/**
 * The README with the figures in their place.
 *
 * @param {string} readme
 */
function withFigures(readme) {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`README.md has no place for figures: ${BEGIN}`);
  return readme.slice(0, begin) + figures() + readme.slice(end + END.length);
}

module.exports = { figures, withFigures };

if (require.main === module) writeFileSync(README, withFigures(readFileSync(README, 'utf8')));
