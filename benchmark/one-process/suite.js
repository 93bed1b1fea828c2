'use strict';

const path = require('path');
const { Child } = require('../harness/child');
const { needLinux } = require('../harness/prepare');

/**
 * @typedef {import('../harness/cores').Command} Command
 * @typedef {import('../harness/suite').Settings} Settings
 * @typedef {import('../harness/turns').Contender} Contender
 *
 * @typedef {object} OneProcessPeer
 * @property {string} name
 * @property {string} program a file in `programs`
 */

const PROGRAMS = path.join(__dirname, 'programs');

const SCENARIOS = [
  {
    name: 'one-process',
    description:
      'server and client in one process: 1 connection, 8 buffers of 1 MB on their way, echo',
    unit: /** @type {const} */ ('byte'),
    peers: [
      { name: 'oxwire', program: 'oxwire.js' },
      { name: 'oxwire-pipe', program: 'oxwire-pipe.js' },
      { name: 'turbo-net', program: 'turbo-net.js' },
      { name: 'node-net', program: 'node-net.js' },
    ],
  },
];

function prepare() {
  needLinux();
}

/**
 * @param {unknown} _scenario there is one
 * @param {OneProcessPeer} peer
 * @param {Settings} settings
 * @returns {Promise<Contender>}
 */
async function start(_scenario, { name, program }, { seconds }) {
  // Each slice is a process of its own, which has to warm up for as long as it is measured. It has the
  // machine to itself: a native pipe works while JavaScript does.
  const measure = async () => {
    /** @type {Command} */
    const command = [
      process.execPath,
      path.join(PROGRAMS, program),
      ...[seconds, seconds].map(String),
    ];
    const child = new Child(command, { tethered: true });
    await child.ended;
    if (child.ending !== 'exit code 0') throw child.failure(`${name} failed in one process`);
    return JSON.parse(child.output);
  };
  return { name, measure, stop: async () => {} };
}

module.exports = { scenarios: SCENARIOS, prepare, start };
