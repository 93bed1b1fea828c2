'use strict';

/**
 * What slices are compared by: a cost, and the speed that comes with it.
 *
 * @typedef {import('./turns').Sample} Sample
 *
 * @typedef {object} Figure
 * @property {string} title
 * @property {string} key of a sample
 * @property {number} factor from the unit of the sample to that of the title
 *
 * @typedef {object} Unit
 * @property {Figure} cost the less, the better
 * @property {string} less what the ratio of costs is called
 * @property {Figure} [speed] the more, the better
 */

const MIB = 1024 * 1024;

/** @type {Figure} */
const MEMORY = { title: 'peak MiB', key: 'peakRssBytes', factor: 1 / MIB };

/** @satisfies {Record<string, Unit>} */
const UNITS = {
  message: {
    cost: { title: 'CPU µs/msg', key: 'cpuSecondsPerMessage', factor: 1e6 },
    less: 'less CPU per message',
    speed: { title: '1000 msg/s', key: 'messagesPerSecond', factor: 1e-3 },
  },
  byte: {
    cost: { title: 'CPU s/GB', key: 'cpuSecondsPerGB', factor: 1 },
    less: 'less CPU per GB',
    speed: { title: 'GB/s', key: 'bytesPerSecond', factor: 1e-9 },
  },
  // Each connection carries one message.
  connection: {
    cost: { title: 'CPU µs/conn', key: 'cpuSecondsPerMessage', factor: 1e6 },
    less: 'less CPU per connection',
    speed: { title: '1000 conn/s', key: 'messagesPerSecond', factor: 1e-3 },
  },
  memory: { cost: MEMORY, less: 'less memory' },
};

/** Shown beside cost and speed where they were measured. @type {Figure[]} */
const OTHERS = [
  { title: 'p50 µs', key: 'p50Us', factor: 1 },
  { title: 'p99 µs', key: 'p99Us', factor: 1 },
  MEMORY,
  { title: 'CPU %', key: 'cpuShare', factor: 100 },
  { title: 'server CPU %', key: 'serverCpuShare', factor: 100 },
  { title: 'load CPU %', key: 'clientCpuShare', factor: 100 },
];

/** @typedef {keyof typeof UNITS} UnitName */

/** @type {Record<UnitName, Unit>} */
const units = UNITS;

module.exports = { UNITS: units, OTHERS };
