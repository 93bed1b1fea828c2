'use strict';

const { UNITS, OTHERS } = require('./units');

/**
 * @typedef {import('./suite').Scenario} Scenario
 * @typedef {import('./summary').Summary} Summary
 * @typedef {import('./stats').Spread} Spread
 * @typedef {import('./units').Figure} Figure
 */

/** Above this share of waiting, something else ran on the servers' core. */
const DISTURBED = 0.05;

/**
 * The figures of a scenario as text.
 *
 * @param {Scenario} scenario
 * @param {Summary} summary
 */
function formatSummary(scenario, summary) {
  const { cost, speed, less } = UNITS[scenario.unit];
  const measured = Object.entries(summary.peers);
  const main = speed ? [cost, speed] : [cost];
  // Figures that nobody has, or that are there already, have no column.
  const others = OTHERS.filter(
    (figure) => !main.includes(figure) && measured.some(([, values]) => values[figure.key] != null),
  );
  const titles = ['', ...main.map(({ title }) => title), ...others.map(({ title }) => title)];
  const rows = measured.map(([name, values]) => [
    name,
    ...main.map((figure) => withQuartiles(values[figure.key], figure)),
    ...others.map((figure) => middle(values[figure.key], figure)),
  ]);
  const parts = [`${scenario.name}: ${scenario.description}`, layOut([titles, ...rows])];
  if (summary.ratios.length > 0) {
    const ratios = summary.ratios.map(({ peer, cost, speed }) =>
      [`${summary.subject} against ${peer}`, times(cost)].concat(speed ? times(speed) : []),
    );
    parts.push(layOut([['', less].concat(speed ? 'more throughput' : []), ...ratios]));
  }
  const waiting = measured.map(([, values]) => values.serverWaitShare?.median ?? 0);
  // One that waits more than the others does so for threads of its own.
  const least = Math.min(...waiting);
  if (least > DISTURBED) {
    parts.push(
      `  Servers waited ${(least * 100).toFixed(0)} % of the time for their core: the machine is busy, expect noise.`,
    );
  }
  return `${parts.join('\n\n')}\n`;
}

/**
 * @param {Spread | null | undefined} value
 * @param {Figure} figure
 */
function middle(value, { factor }) {
  return value == null ? '-' : digits(value.median * factor);
}

/**
 * @param {Spread | null | undefined} value
 * @param {Figure} figure
 */
function withQuartiles(value, { factor }) {
  if (value == null) return '-';
  const [median, low, high] = [value.median, value.low, value.high].map((x) => digits(x * factor));
  return `${median} [${low}–${high}]`;
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
