'use strict';

const os = require('os');
const path = require('path');

const BENCHMARK = path.join(__dirname, '..');

/** What a reader must know to judge the figures. */
function machineFacts() {
  return {
    date: new Date().toISOString(),
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.cpus().length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    kernel: `${os.type()} ${os.release()}`,
    arch: os.arch(),
    node: process.versions.node,
    libuv: process.versions.uv,
    packages: {
      oxwire: versionIn(path.join(BENCHMARK, '..')),
      'turbo-net': versionIn(path.join(BENCHMARK, 'node_modules', 'turbo-net')),
    },
  };
}

/**
 * @param {string} folder
 * @returns {string}
 */
function versionIn(folder) {
  return require(path.join(folder, 'package.json')).version;
}

module.exports = { machineFacts };
