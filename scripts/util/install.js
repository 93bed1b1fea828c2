'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');

const { show } = require('./command');
const { readJson } = require('./files');
const { inRoot } = require('./paths');

/**
 * Installs a folder's dependencies as its lock file names them, unless they are there already.
 *
 * @param {string} folder relative to the root, `.` for the root itself
 * @param {string[]} [flags] further flags of `npm ci`
 */
function ensureInstalled(folder, flags = []) {
  const reason = whyInstall(inRoot(folder));
  if (!reason) return;
  console.log(
    `ensure: installing what ${path.posix.join(folder, 'package-lock.json')} lists (${reason})`,
  );
  // Warnings are about deprecated or newer-Node packages deep in the tools: nothing to act on.
  const command = ['npm', 'ci', '--loglevel=error', '--include=dev', ...flags];
  if (show(command, { cwd: inRoot(folder) })) return;
  throw new Error(
    `\`npm ci\` failed in ${folder}. If package.json and package-lock.json disagree, run ` +
      '`npm install` there; else see the error above (no network, or a registry without a package).',
  );
}

/**
 * Compares the lock file with the list that npm keeps of what it has installed. Modification times
 * say nothing: git sets them at every checkout.
 *
 * @param {string} folder
 * @returns {string | undefined} the reason to install, if there is one
 */
function whyInstall(folder) {
  const manifest = readJson(path.join(folder, 'package.json'));
  const lock = readJson(path.join(folder, 'package-lock.json'));
  const installed = readJson(path.join(folder, 'node_modules', '.package-lock.json'));
  if (!lock) return 'no package-lock.json';
  if (!fs.existsSync(path.join(folder, 'node_modules'))) return 'no node_modules';
  if (!installed) return 'node_modules is incomplete';

  const { '': locked, ...packages } = lock.packages;
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    if (!isDeepStrictEqual(manifest[kind] ?? {}, locked[kind] ?? {})) return 'package.json changed';
  }
  for (const [name, wanted] of Object.entries(packages)) {
    const present = installed.packages[name];
    const complete = present
      ? present.version === wanted.version && present.integrity === wanted.integrity
      : wanted.optional;
    if (!complete) return 'package-lock.json changed';
  }
  return Object.keys(installed.packages).every((name) => name in packages)
    ? undefined
    : 'package-lock.json changed';
}

module.exports = { ensureInstalled };
