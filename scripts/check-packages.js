'use strict';

// Checks every package as it would be published: one version everywhere, the right files, nothing
// that runs at installation or belongs to one machine, a size within its budget; and what publint
// and arethetypeswrong say of it.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { capture } = require('./util/command');
const { listFiles, readJson } = require('./util/files');
const { pack } = require('./util/pack');
const { inRoot, root } = require('./util/paths');
const { stagePackages, stagePlatforms } = require('./util/stage');

/**
 * What a package may weigh, packed and installed, in bytes. A budget leaves room to grow in small
 * steps, and none for a slip: a dependency with large tables, symbols left in the addon, a folder
 * that should not be there.
 */
const BUDGETS = {
  platform: { packed: 400_000, installed: 900_000 },
  oxwire: { packed: 72_000, installed: 288_000 },
  dropIn: { packed: 8_000, installed: 24_000 },
};

const node = process.execPath;
const publint = [node, inRoot('node_modules/publint/src/cli.js'), '--strict'];
const attw = [node, inRoot('node_modules/@arethetypeswrong/cli/dist/index.js')];

const manifest = readJson(inRoot('package.json'));
const platformManifests = manifestsOf('npm');
const dropInManifests = manifestsOf('packages');
const forbidden = forbiddenWords();

async function main() {
  const staging = fs.mkdtempSync(path.join(os.tmpdir(), 'oxwire-check-'));
  process.on('exit', () => fs.rmSync(staging, { recursive: true }));
  const folders = await stagePackages(path.join(staging, 'built'));
  const all = folders.concat(otherPlatforms(path.join(staging, 'other'), folders));
  const packages = all.map((folder) => Object.assign(pack(folder), { folder }));
  const problems = [
    ...versions(),
    ...manifests(),
    ...locks(),
    ...packages.flatMap(contents),
    ...packages.flatMap(({ folder, files }) => addresses(folder, files)),
    ...packages.flatMap(weight),
    ...packages.flatMap(verdicts),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

/**
 * Lays out the packages of platforms whose addon is built elsewhere, with a stand-in for it.
 *
 * @param {string} staging
 * @param {string[]} built the folders of the others
 * @returns {string[]} folders
 */
function otherPlatforms(staging, built) {
  const names = new Set(built.map((folder) => path.basename(folder)));
  const others = fs.readdirSync(inRoot('npm')).filter((platform) => !names.has(platform));
  stagePlatforms(staging, others);
  return others.map((platform) => {
    const folder = path.join(staging, platform);
    fs.writeFileSync(path.join(folder, `oxwire.${platform}.node`), '');
    return folder;
  });
}

/** @typedef {{ folder: string } & ReturnType<typeof pack>} Package */

/** @returns {string[]} versions that differ from package.json's */
function versions() {
  const { version } = manifest;
  const lock = readJson(inRoot('package-lock.json'));
  const found = {
    'Cargo.toml': /^version = "(.*)"$/m.exec(read('Cargo.toml'))?.[1],
    'Cargo.lock': /^name = "oxwire"\nversion = "(.*)"$/m.exec(read('Cargo.lock'))?.[1],
    'package-lock.json': lock.version,
    "package-lock.json, in packages['']": lock.packages[''].version,
    'binding.js': /bindingPackageVersion !== '(.*?)'/.exec(read('binding.js'))?.[1],
  };
  for (const file of [...platformManifests, ...dropInManifests]) {
    const { version, dependencies } = readJson(inRoot(file));
    Object.assign(found, { [file]: version });
    if (dependencies) Object.assign(found, { [`${file}, in dependencies,`]: dependencies.oxwire });
  }
  return Object.entries(found)
    .filter(([, other]) => other !== version)
    .map(([file, other]) => `${file} says version ${other}, package.json ${version}.`);
}

/** @returns {string[]} what a user must not be made to run, install or publish to */
function manifests() {
  return ['package.json', ...platformManifests, ...dropInManifests].flatMap((file) => {
    const { scripts, dependencies, publishConfig, optionalDependencies } = readJson(inRoot(file));
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare'].filter(
      (name) => scripts?.[name],
    );
    // A registry here would win over that of a rehearsal, and publish for real.
    const settings = Object.keys(publishConfig ?? {}).filter((name) => name !== 'access');
    const strangers = Object.keys(dependencies ?? {}).filter(
      (name) => name !== 'oxwire' || !dropInManifests.includes(file),
    );
    const found = [
      ...hooks.map((name) => `has the script ${name}, which would run at every installation.`),
      ...strangers.map((name) => `depends on ${name}. Published packages depend on nothing else.`),
      ...settings.map((name) => `has ${name} in publishConfig: only access belongs there.`),
    ];
    if (optionalDependencies) found.push('has optionalDependencies; publishing writes them.');
    return found.map((problem) => `${file} ${problem}`);
  });
}

/** @returns {string[]} packages that would compile something when the root is installed */
function locks() {
  const files = ['package-lock.json', 'rehearsal/package-lock.json'];
  const strangers = files.flatMap((file) =>
    Object.entries(readJson(inRoot(file)).packages)
      .filter(([, entry]) => entry.hasInstallScript)
      .map(([name]) => `${file}: ${name} has an install script. Peers belong in benchmark/.`),
  );
  return [...strangers, ...addresses(root, [...files, 'benchmark/package-lock.json', '.npmrc'])];
}

/** @param {Package} each @returns {string[]} files that are missing, and ones too many */
function contents({ folder, name, files }) {
  const { main, types, exports } = readJson(path.join(folder, 'package.json'));
  const named = /** @type {string[]} */ (
    JSON.stringify([main, types, exports ?? {}]).match(/[^"]+\.\w+/g)
  );
  const required = ['LICENSE', 'README.md', ...named.map((file) => path.normalize(file))];
  const strangers = ['.test.js', '.spec.js', '.gyp'];
  if (isPlatform(name)) required.push('LICENSE.third-party.txt');
  else strangers.push('.node');
  const unwanted = files.filter(
    (file) =>
      strangers.some((end) => file.endsWith(end)) ||
      /^(__test__|benchmark|fuzz|npm|packages|rehearsal|scripts|src)\//.test(file),
  );
  return [
    ...unwanted.map((file) => `${name} would be published with ${file}: see "files".`),
    ...required
      .filter((file) => !files.includes(file))
      .map((file) => `${name} would be published without ${file}.`),
  ];
}

/** @param {Package} each @returns {string[]} */
function weight({ name, size, unpackedSize }) {
  const kind = isPlatform(name) ? 'platform' : name === 'oxwire' ? 'oxwire' : 'dropIn';
  const budget = BUDGETS[kind];
  const found = [];
  if (size > budget.packed) found.push(`packed ${size} bytes, of ${budget.packed}`);
  if (unpackedSize > budget.installed) {
    found.push(`installed ${unpackedSize} bytes, of ${budget.installed}`);
  }
  return found.map((text) => `${name} is over its budget: ${text}.`);
}

/** @param {Package} each @returns {string[]} what the linters of packages say */
function verdicts({ folder, name }) {
  const flags = ['--profile', 'node16', '--no-definitely-typed', '--no-color'];
  const types = isPlatform(name) ? [] : [[...attw, '--pack', folder, ...flags]];
  return [[...publint, folder], ...types].flatMap((command) => {
    const { ok, output } = capture(command);
    return ok ? [] : [`\`${command.join(' ')}\`:\n${output}`];
  });
}

/**
 * @param {string} folder
 * @param {string[]} files
 * @returns {string[]} addresses of registries and folders of this machine
 */
function addresses(folder, files) {
  return files.flatMap((file) => {
    const text = fs.readFileSync(path.join(folder, file), 'utf8');
    const found = forbidden.filter((word) => text.includes(word));
    if (/"resolved": "https?:/.test(text)) found.push('"resolved" addresses');
    return found.map((word) => `${path.join(folder, file)} contains ${word}: remove it.`);
  });
}

function forbiddenWords() {
  const { stdout } = capture(['npm', 'config', 'get', 'registry']);
  const registries = URL.canParse(stdout.trim()) ? [new URL(stdout).hostname] : [];
  const home = os.homedir();
  return [...registries, root, ...(home.length > 1 ? [`${home}/`] : []), '_authToken'];
}

/** @param {string} name */
function isPlatform(name) {
  return name.startsWith(`${manifest.napi.packageName}-`);
}

/** @param {string} folder @returns {string[]} */
function manifestsOf(folder) {
  return listFiles(inRoot(folder))
    .filter((file) => file.endsWith('package.json'))
    .map((file) => `${folder}/${file}`);
}

/** @param {string} file */
function read(file) {
  return fs.readFileSync(inRoot(file), 'utf8');
}

void main();
