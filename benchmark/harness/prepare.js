'use strict';

const { spawnSync } = require('child_process');
const { existsSync } = require('fs');
const path = require('path');

const BENCHMARK = path.join(__dirname, '..');

/** Says so where figures cannot be had. */
function needLinux() {
  if (process.platform === 'linux') return;
  throw new Error(
    `sockets are measured on Linux, whose kernel tells CPU time and memory of a process in /proc; this is ${process.platform}`,
  );
}

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
 * Builds programs in Rust, each the only one of a package of the same name, and returns their paths.
 *
 * @param {string[]} names
 * @param {(line: string) => void} say
 * @param {'release' | 'dev'} [profile]
 * @returns {Record<string, string>} path by name
 */
function buildRust(names, say, profile = 'release') {
  say(`building ${names.join(', ')}`);
  const packages = names.flatMap((name) => ['-p', name]);
  const experiments = ['--features', 'peers/io-uring'];
  const build = ['build', '--profile', profile, ...packages, ...experiments];
  const { status, error, stdout } = spawnSync(
    'cargo',
    [...build, '--message-format=json-render-diagnostics'],
    {
      cwd: path.join(BENCHMARK, '..'),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 2],
    },
  );
  if (status !== 0) throw failed(`cargo ${build.join(' ')}`, status, error);
  const messages = stdout.split('\n').filter((line) => line.startsWith('{'));
  const built = messages.map((line) => JSON.parse(line)).filter(({ executable }) => executable);
  const paths = Object.fromEntries(
    built.map(({ target, executable }) => [target.name, executable]),
  );
  const missing = names.filter((name) => !(name in paths));
  if (missing.length > 0)
    throw new Error(`cargo built ${missing.join(', ')} but did not say where`);
  return paths;
}

/**
 * @param {string} command
 * @param {number | null} status
 * @param {Error} [error]
 */
function failed(command, status, error) {
  return new Error(`"${command}" failed: ${error ? error.message : `exit code ${status}`}`);
}

module.exports = { needLinux, installPeers, buildRust };
