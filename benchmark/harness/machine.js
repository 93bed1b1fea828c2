'use strict';

const { spawnSync } = require('child_process');
const { readFileSync } = require('fs');
const os = require('os');
const path = require('path');

const BENCHMARK = path.join(__dirname, '..');
const ROOT = path.join(BENCHMARK, '..');

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
    rustc: rustVersion(),
    packages: {
      oxwire: versionIn(ROOT),
      'turbo-net': versionIn(path.join(BENCHMARK, 'node_modules', 'turbo-net')),
      tokio: versionOfCrate('tokio'),
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

function rustVersion() {
  const { stdout } = spawnSync('rustc', ['--version'], { encoding: 'utf8' });
  return stdout?.split(' ')[1] ?? 'unknown';
}

/** @param {string} name */
function versionOfCrate(name) {
  const lock = readFileSync(path.join(ROOT, 'Cargo.lock'), 'utf8');
  return lock.match(new RegExp(`^name = "${name}"\nversion = "(.+)"$`, 'm'))?.[1] ?? 'unknown';
}

module.exports = { machineFacts };
