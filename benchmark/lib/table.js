'use strict';

/**
 * @typedef {import('./scenarios').Scenario} Scenario
 * @typedef {import('./summary').Summary} Summary
 * @typedef {import('./stats').Spread} Spread
 * @typedef {import('./slice').Sample} Sample
 *
 * @typedef {object} Column
 * @property {string} title
 * @property {keyof Sample} key
 * @property {number} factor from the unit of the sample to that of the title
 * @property {boolean} [quartiles] whether the spread is shown
 */

const MIB = 1024 * 1024;
/** Above this share of waiting, something else ran on the servers' core. */
const DISTURBED = 0.05;

/** @type {Record<Scenario['unit'], Column[]>} */
const COST_AND_SPEED = {
  message: [
    { title: 'CPU µs/msg', key: 'cpuSecondsPerMessage', factor: 1e6, quartiles: true },
    { title: '1000 msg/s', key: 'messagesPerSecond', factor: 1e-3, quartiles: true },
  ],
  byte: [
    { title: 'CPU s/GB', key: 'cpuSecondsPerGB', factor: 1, quartiles: true },
    { title: 'GB/s', key: 'bytesPerSecond', factor: 1e-9, quartiles: true },
  ],
};

/** @type {Column[]} */
const OTHERS = [
  { title: 'p50 µs', key: 'p50Us', factor: 1 },
  { title: 'p99 µs', key: 'p99Us', factor: 1 },
  { title: 'peak MiB', key: 'peakRssBytes', factor: 1 / MIB },
  { title: 'server CPU %', key: 'serverCpuShare', factor: 100 },
  { title: 'load CPU %', key: 'clientCpuShare', factor: 100 },
];

/**
 * The figures of a scenario as text.
 *
 * @param {Scenario} scenario
 * @param {Summary} summary
 */
function formatSummary(scenario, summary) {
  const columns = [...COST_AND_SPEED[scenario.unit], ...OTHERS];
  const figures = Object.entries(summary.servers).map(([name, values]) =>
    [name].concat(columns.map((column) => cell(values[column.key], column))),
  );
  const parts = [
    `${scenario.name}: ${scenario.description}`,
    layOut([['server', ...columns.map(({ title }) => title)], ...figures]),
  ];
  if (summary.ratios.length > 0) {
    const [cost, unit] =
      scenario.unit === 'byte'
        ? [/** @type {const} */ ('cpuPerGB'), 'less CPU per GB']
        : [/** @type {const} */ ('cpuPerMessage'), 'less CPU per message'];
    const rows = summary.ratios.map((ratios) => [
      `${summary.subject} against ${ratios.peer}`,
      times(ratios[cost]),
      times(ratios.throughput),
    ]);
    parts.push(layOut([['ratio', unit, 'more throughput'], ...rows]));
  }
  const waiting = Object.values(summary.servers).map((of) => of.serverWaitShare?.median ?? 0);
  if (Math.max(...waiting) > DISTURBED) {
    const share = (Math.max(...waiting) * 100).toFixed(0);
    parts.push(
      `  A server waited ${share} % of the time for its core: the machine is busy, expect noise.`,
    );
  }
  return `${parts.join('\n\n')}\n`;
}

/**
 * @param {Spread | null} value
 * @param {Column} column
 */
function cell(value, { factor, quartiles }) {
  if (value === null) return '-';
  const [median, low, high] = [value.median, value.low, value.high].map((x) => digits(x * factor));
  return quartiles ? `${median} [${low}–${high}]` : median;
}

/** @param {Spread} ratio */
function times({ median, low, high }) {
  return `${median.toFixed(2)}× [${low.toFixed(2)}–${high.toFixed(2)}]`;
}

/**
 * Three significant digits, or all of a larger whole number.
 *
 * @param {number} value
 */
function digits(value) {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/**
 * Aligns the first column to the left and all others to the right.
 *
 * @param {string[][]} rows
 */
function layOut(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
  return rows
    .map((row) =>
      row
        .map((text, at) => (at === 0 ? text.padEnd(widths[at]) : text.padStart(widths[at])))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n');
}

module.exports = { formatSummary };
