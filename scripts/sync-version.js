'use strict';

// Gives the crate the version of package.json. Part of `npm version`.

const fs = require('node:fs');

const { readJson } = require('./util/files');
const { inRoot } = require('./util/paths');

const { version } = readJson(inRoot('package.json'));
const manifest = fs.readFileSync(inRoot('Cargo.toml'), 'utf8');
fs.writeFileSync(
  inRoot('Cargo.toml'),
  manifest.replace(/^version = ".*"$/m, `version = "${version}"`),
);
