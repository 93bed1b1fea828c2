'use strict';

// Gives the crate, the drop-ins and what the READMEs say of them the version of package.json. Part of
// `npm version`.

const fs = require('node:fs');

const { readJson } = require('./util/files');
const { inRoot } = require('./util/paths');

const { version } = readJson(inRoot('package.json'));
/** As in an override. */
const range = /(npm:@oxwire\/[\w.-]+@\^)[\w.-]+/g;

replace('Cargo.toml', /^version = ".*"$/m, `version = "${version}"`);
replace('README.md', range, `$1${version}`);

for (const name of fs.readdirSync(inRoot('packages'))) {
  const file = inRoot('packages', name, 'package.json');
  const manifest = readJson(file);
  manifest.version = version;
  if (manifest.dependencies?.oxwire) manifest.dependencies.oxwire = version;
  fs.writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  replace(`packages/${name}/README.md`, range, `$1${version}`);
}

/** @param {string} file @param {RegExp} pattern @param {string} replacement */
function replace(file, pattern, replacement) {
  const text = fs.readFileSync(inRoot(file), 'utf8');
  fs.writeFileSync(inRoot(file), text.replace(pattern, replacement));
}
