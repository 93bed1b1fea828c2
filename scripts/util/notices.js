'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { run } = require('./command');

const standardLibrary =
  'The Rust standard library\n\nMIT OR Apache-2.0, see https://github.com/rust-lang/rust';

/**
 * @typedef {object} Crate
 * @property {string} id
 * @property {string} name
 * @property {string} version
 * @property {string} license an SPDX expression
 * @property {string} repository
 * @property {string} manifest_path
 * @property {{ kind: string[] }[]} targets
 */

/**
 * The licences of what is linked into the addon. They ask that their texts come with it.
 *
 * @returns {string}
 */
function thirdPartyNotices() {
  const command = ['cargo', 'metadata', '--locked', '--format-version', '1'];
  const { packages, resolve } = JSON.parse(run(command));
  /** @type {Crate[]} */
  const crates = packages;
  const root = crates.find(({ name }) => name === 'oxwire');
  const linked = linkedCrates(/** @type {Crate} */ (root).id, crates, resolve.nodes);
  /** @type {Map<string, string[]>} each text once, with those that have it */
  const owners = new Map();
  for (const crate of linked) {
    const text = licenceOf(crate);
    owners.set(text, [...(owners.get(text) ?? []), `${crate.name} ${crate.version}`]);
  }
  const sections = [...owners].map(([text, names]) => `${names.join(', ')}\n\n${text}`);
  const line = '-'.repeat(80);
  return ['What is linked into this addon, and its licences.', standardLibrary, ...sections].join(
    `\n\n${line}\n\n`,
  );
}

/**
 * @param {string} root
 * @param {Crate[]} crates
 * @param {{ id: string, deps: { pkg: string, dep_kinds: { kind: string | null }[] }[] }[]} nodes
 * @returns {Crate[]} what `root` needs on some platform to run, itself left out
 */
function linkedCrates(root, crates, nodes) {
  const byId = new Map(crates.map((crate) => [crate.id, crate]));
  const dependencies = new Map(nodes.map(({ id, deps }) => [id, deps]));
  const found = new Set([root]);
  for (const id of found) {
    for (const { pkg, dep_kinds: kinds } of dependencies.get(id) ?? []) {
      const isMacro = byId.get(pkg)?.targets.some(({ kind }) => kind.includes('proc-macro'));
      // Not for building or testing alone.
      if (!isMacro && kinds.some(({ kind }) => kind === null)) found.add(pkg);
    }
  }
  found.delete(root);
  return crates.filter(({ id }) => found.has(id));
}

/** @param {Crate} crate @returns {string} */
function licenceOf({ license, repository, manifest_path: manifest }) {
  const folder = path.dirname(manifest);
  const files = fs.readdirSync(folder).filter((file) => /^(licen[sc]e|copying)/i.test(file));
  // Where one may choose, the shorter.
  const file = files.find((file) => /mit/i.test(file)) ?? files[0];
  if (file) return fs.readFileSync(path.join(folder, file), 'utf8').trim();
  return `${license}, see ${repository}: the package comes without the text.`;
}

module.exports = { thirdPartyNotices };
