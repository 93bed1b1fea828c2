'use strict';

// Gives the crate and the drop-ins the version of package.json. Part of `npm version`.

const fs = require('node:fs');

const { readJson } = require('./util/files');
const { inRoot } = require('./util/paths');

const { version } = readJson(inRoot('package.json'));

const cargo = fs.readFileSync(inRoot('Cargo.toml'), 'utf8');
fs.writeFileSync(
  inRoot('Cargo.toml'),
  cargo.replace(/^version = ".*"$/m, `version = "${version}"`),
);

for (const name of fs.readdirSync(inRoot('packages'))) {
  const file = inRoot('packages', name, 'package.json');
  const manifest = readJson(file);
  manifest.version = version;
  if (manifest.dependencies?.oxwire) manifest.dependencies.oxwire = version;
  fs.writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
