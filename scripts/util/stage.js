'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { platformOf } = require('./addon');
const { run } = require('./command');
const { readJson } = require('./files');
const { thirdPartyNotices } = require('./notices');
const { pack } = require('./pack');
const { inRoot, napiCli, root } = require('./paths');

/**
 * Lays out every package as it is to be published, each in a folder of its own: the platform
 * packages with their addons, oxwire with its optionalDependencies, and the drop-ins.
 *
 * @param {string} staging the folder for all of them, absolute; what is in it is deleted
 * @param {object} [options]
 * @param {boolean} [options.complete] fail where the addon of a target is missing; otherwise only
 *   the targets that are built take part, as for the host alone
 * @returns {Promise<string[]>} the folders, absolute, in the order of publication: none before what
 *   it depends on
 */
async function stagePackages(staging, { complete = false } = {}) {
  fs.rmSync(staging, { recursive: true, force: true });
  const folderOf = (/** @type {string} */ name) => path.join(staging, name);
  const targets = await targetsToStage(complete);
  stageRoot(folderOf('oxwire'), targets);
  const dropIns = fs.readdirSync(inRoot('packages'));
  for (const name of dropIns) copyPackage(inRoot('packages', name), folderOf(name));
  const others = ['oxwire', ...dropIns].map(folderOf);
  for (const folder of others) complement(folder);
  return [
    ...targets.map(({ platform }) => path.join(folderOf('oxwire'), 'npm', platform)),
    ...others,
  ];
}

/**
 * @typedef {object} Target
 * @property {string} triple
 * @property {string} platform as its package is called
 * @property {string} addon the file
 */

/**
 * @param {boolean} complete
 * @returns {Promise<Target[]>} those of package.json, or of them those that are built
 */
async function targetsToStage(complete) {
  // Not required: Node 20.9 can't require what it requires.
  const { parseTriple } = await import('@napi-rs/cli');
  /** @type {string[]} */
  const triples = readJson(inRoot('package.json')).napi.targets;
  const all = triples.map((triple) => {
    const platform = parseTriple(triple).platformArchABI;
    return { triple, platform, addon: `oxwire.${platform}.node` };
  });
  const built = all.filter(({ addon }) => fs.existsSync(inRoot(addon)));
  for (const { addon, platform } of built) {
    const actual = platformOf(inRoot(addon));
    if (actual !== platform) throw new Error(`${addon} is for ${actual ?? 'no platform'}.`);
  }
  if (built.length === 0) throw new Error('No addon is built here: run npm run build.');
  if (!complete) return built;
  const missing = all.filter((target) => !built.includes(target));
  if (missing.length === 0) return all;
  const names = missing.map(({ triple }) => triple).join(', ');
  throw new Error(`The addons of these targets are not in the root folder: ${names}.`);
}

/** @param {string} folder @param {Target[]} targets */
function stageRoot(folder, targets) {
  copyPackage(root, folder);
  stagePlatforms(
    path.join(folder, 'npm'),
    targets.map(({ platform }) => platform),
  );
  for (const { platform, addon } of targets) {
    fs.copyFileSync(inRoot(addon), path.join(folder, 'npm', platform, addon));
  }

  // Sees that each addon is there, and writes optionalDependencies.
  const config = path.join(folder, 'napi.json');
  const { napi } = readJson(inRoot('package.json'));
  const triples = targets.map(({ triple }) => triple);
  fs.writeFileSync(config, JSON.stringify({ ...napi, targets: triples }));
  const flags = ['--config-path', 'napi.json', '--skip-optional-publish', '--no-gh-release'];
  run([process.execPath, napiCli, 'pre-publish', '--cwd', folder, ...flags]);
  fs.rmSync(config);
}

/**
 * Lays out the packages of platforms, but for their addons.
 *
 * @param {string} parent the folder for all of them
 * @param {string[]} platforms as their folders in npm/ are called
 */
function stagePlatforms(parent, platforms) {
  const notices = thirdPartyNotices();
  for (const platform of platforms) {
    const folder = path.join(parent, platform);
    fs.cpSync(inRoot('npm', platform), folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'LICENSE.third-party.txt'), notices);
    // The generated text names a package that does not exist.
    const { name } = readJson(path.join(folder, 'package.json'));
    const readme = `# ${name}\n\nThe native addon of oxwire for ${platform}. npm installs it together with oxwire.\n`;
    fs.writeFileSync(path.join(folder, 'README.md'), readme);
    complement(folder);
  }
}

/**
 * Copies what `npm publish` would take of a folder.
 *
 * @param {string} from
 * @param {string} to
 */
function copyPackage(from, to) {
  for (const file of pack(from).files) {
    fs.mkdirSync(path.dirname(path.join(to, file)), { recursive: true });
    fs.copyFileSync(path.join(from, file), path.join(to, file));
  }
}

/**
 * Adds what all packages have: the licence, and on GitHub the repository, which provenance is
 * checked against.
 *
 * @param {string} folder
 */
function complement(folder) {
  fs.copyFileSync(inRoot('LICENSE'), path.join(folder, 'LICENSE'));
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
  if (!GITHUB_REPOSITORY) return;
  const file = path.join(folder, 'package.json');
  const manifest = readJson(file);
  manifest.repository = {
    type: 'git',
    url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`,
  };
  fs.writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

module.exports = { stagePackages, stagePlatforms };
