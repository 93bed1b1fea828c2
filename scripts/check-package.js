'use strict';

// Checks what is published: one version everywhere, the right files, and nothing in them that
// belongs to one machine or one registry.

const fs = require('node:fs');
const os = require('node:os');

const { capture } = require('./util/command');
const { listFiles, readJson } = require('./util/files');
const { inRoot, root } = require('./util/paths');

const manifest = readJson(inRoot('package.json'));
const platformPackages = listFiles(inRoot('npm'))
  .filter((file) => !file.endsWith('.node'))
  .map((file) => `npm/${file}`);
const packed = packedFiles();

const problems = [...versions(), ...strangers(), ...addresses()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** @returns {string[]} the files that `npm publish` would send */
function packedFiles() {
  const { ok, stdout, output } = capture([
    'npm',
    'pack',
    '--dry-run',
    '--json',
    '--ignore-scripts',
  ]);
  if (!ok) throw new Error(`\`npm pack\` failed:\n${output}`);
  return JSON.parse(stdout)[0].files.map((/** @type {{ path: string }} */ file) => file.path);
}

/** @returns {string[]} versions that differ from package.json's */
function versions() {
  const { version } = manifest;
  const crate = /^version = "(.*)"$/m.exec(read('Cargo.toml'))?.[1];
  const lock = readJson(inRoot('package-lock.json'));
  const found = {
    'Cargo.toml': crate,
    'package-lock.json': lock.packages[''].version,
    'binding.js': /bindingPackageVersion !== '(.*?)'/.exec(read('binding.js'))?.[1],
  };
  for (const file of platformPackages.filter((name) => name.endsWith('package.json'))) {
    Object.assign(found, { [file]: readJson(inRoot(file)).version });
  }
  return Object.entries(found)
    .filter(([, other]) => other !== version)
    .map(([file, other]) => `${file} says version ${other}, package.json ${version}.`);
}

/** @returns {string[]} files that must not be published, and ones that are missing */
function strangers() {
  const unwanted = packed.filter((file) => /\.node$|\.test\.|^__test__|^scripts\//.test(file));
  const required = ['index.js', 'index.d.ts', 'binding.js', 'binding.d.ts', 'LICENSE', 'README.md'];
  const missing = required.filter((file) => !packed.includes(file));
  return [
    ...unwanted.map((file) => `${file} would be published: see "files" in package.json.`),
    ...missing.map((file) => `${file} would not be published.`),
  ];
}

/** @returns {string[]} addresses of registries and folders of this machine */
function addresses() {
  const { stdout } = capture(['npm', 'config', 'get', 'registry']);
  const registries = URL.canParse(stdout.trim()) ? [new URL(stdout).hostname] : [];
  const home = os.homedir();
  const forbidden = [...registries, root, ...(home.length > 1 ? [`${home}/`] : []), '_authToken'];
  const locks = ['package-lock.json', 'benchmark/package-lock.json'];
  const files = [...new Set([...packed, ...platformPackages, '.npmrc', ...locks])];
  return files.flatMap((file) => {
    const text = read(file);
    const found = forbidden.filter((word) => text.includes(word));
    if (/"resolved": "https?:/.test(text)) found.push('"resolved" addresses');
    return found.map((word) => `${file} contains ${word}: remove it.`);
  });
}

/** @param {string} file */
function read(file) {
  return fs.existsSync(inRoot(file)) ? fs.readFileSync(inRoot(file), 'utf8') : '';
}
