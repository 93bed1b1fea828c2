'use strict';

const { spawnSync } = require('child_process');
const { existsSync } = require('fs');
const path = require('path');

const BENCHMARK = path.join(__dirname, '..');

/**
 * Installs the libraries to compare with, if that has not been done.
 *
 * @param {(line: string) => void} say
 */
function installPeers(say) {
  if (existsSync(path.join(BENCHMARK, 'node_modules', 'turbo-net'))) return;
  say('installing the libraries to compare with');
  const args = ['ci', '--ignore-scripts'];
  const { status, error } = spawnSync('npm', args, {
    cwd: BENCHMARK,
    // On Windows npm is a script. The arguments are fixed, so a shell has nothing to misread.
    shell: process.platform === 'win32',
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw failed('npm ci --ignore-scripts', status, error);
}

/**
 * Builds the load generator and returns the path of the program.
 *
 * @param {(line: string) => void} say
 * @returns {string}
 */
function buildLoad(say) {
  say('building the load generator');
  const args = ['build', '--release', '-p', 'load', '--message-format=json-render-diagnostics'];
  const { status, error, stdout } = spawnSync('cargo', args, {
    cwd: path.join(BENCHMARK, '..'),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 2],
  });
  if (status !== 0) throw failed('cargo build --release -p load', status, error);
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue;
    const message = JSON.parse(line);
    if (message.target?.name === 'load' && message.executable) return message.executable;
  }
  throw new Error('cargo built the load generator but did not say where');
}

/**
 * @param {string} command
 * @param {number | null} status
 * @param {Error} [error]
 */
function failed(command, status, error) {
  return new Error(`"${command}" failed: ${error ? error.message : `exit code ${status}`}`);
}

module.exports = { installPeers, buildLoad };
