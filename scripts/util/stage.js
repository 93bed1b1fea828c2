'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { parseTriple } = require('@napi-rs/cli');

const { run } = require('./command');
const { readJson } = require('./files');
const { inRoot } = require('./paths');

/** Where the folders that `npm publish` takes are made. */
const staging = 'target/packages';
const napiCli = inRoot('node_modules/@napi-rs/cli/dist/cli.js');

/**
 * Lays out every package as it is to be published, each in a folder of its own: the platform
 * packages with their addons, oxwire with its optionalDependencies, and the drop-ins.
 *
 * @param {object} [options]
 * @param {boolean} [options.complete] fail where the addon of a target is missing; otherwise only
 *   the targets that are built take part, as for the host alone
 * @returns {string[]} the folders, relative to the root, in the order of publication: none before
 *   what it depends on
 */
function stagePackages({ complete = false } = {}) {
  fs.rmSync(inRoot(staging), { recursive: true, force: true });
  const platforms = stageRoot(complete);
  const dropIns = fs.readdirSync(inRoot('packages'));
  for (const name of dropIns) copyPackage(`packages/${name}`, `${staging}/${name}`);
  const folders = [
    ...platforms.map((platform) => `${staging}/oxwire/npm/${platform}`),
    ...['oxwire', ...dropIns].map((name) => `${staging}/${name}`),
  ];
  for (const folder of folders) complement(folder);
  return folders;
}

/**
 * @param {boolean} complete
 * @returns {string[]} the platforms that take part
 */
function stageRoot(complete) {
  const folder = `${staging}/oxwire`;
  const { napi } = readJson(inRoot('package.json'));
  copyPackage('.', folder);

  const targets = napi.targets.filter((/** @type {string} */ target) => {
    return complete || fs.existsSync(inRoot(addonOf(target)));
  });
  if (targets.length === 0) throw new Error('No addon is built here: run npm run build.');
  const platforms = targets.map((/** @type {string} */ target) => {
    const { platformArchABI } = parseTriple(target);
    const addon = addonOf(target);
    fs.cpSync(inRoot('npm', platformArchABI), inRoot(folder, 'npm', platformArchABI), {
      recursive: true,
    });
    if (!fs.existsSync(inRoot(addon))) throw new Error(`${addon} is missing: build ${target}.`);
    fs.copyFileSync(inRoot(addon), inRoot(folder, 'npm', platformArchABI, addon));
    return platformArchABI;
  });

  // Checks the addons and writes optionalDependencies.
  const config = `${folder}/napi.json`;
  fs.writeFileSync(inRoot(config), JSON.stringify({ ...napi, targets }));
  const flags = ['--config-path', 'napi.json', '--skip-optional-publish', '--no-gh-release'];
  run([process.execPath, napiCli, 'pre-publish', '--cwd', inRoot(folder), ...flags]);
  fs.rmSync(inRoot(config));
  return platforms;
}

/** @param {string} target a target triple */
function addonOf(target) {
  return `oxwire.${parseTriple(target).platformArchABI}.node`;
}

/**
 * Copies what `npm publish` would take of a folder.
 *
 * @param {string} from relative to the root
 * @param {string} to relative to the root
 */
function copyPackage(from, to) {
  const command = ['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'];
  const [{ files }] = JSON.parse(run(command, { cwd: inRoot(from) }));
  for (const { path: file } of files) {
    fs.mkdirSync(path.dirname(inRoot(to, file)), { recursive: true });
    fs.copyFileSync(inRoot(from, file), inRoot(to, file));
  }
}

/**
 * Adds what all packages have: the licence, and on GitHub the repository, which provenance is
 * checked against.
 *
 * @param {string} folder
 */
function complement(folder) {
  fs.copyFileSync(inRoot('LICENSE'), inRoot(folder, 'LICENSE'));
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
  if (!GITHUB_REPOSITORY) return;
  const manifest = readJson(inRoot(folder, 'package.json'));
  manifest.repository = {
    type: 'git',
    url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`,
  };
  fs.writeFileSync(inRoot(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

module.exports = { stagePackages };
