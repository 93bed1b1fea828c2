'use strict';

const path = require('node:path');

const { capture, run } = require('./command');
const { readJson } = require('./files');

/**
 * Publishes packages, one after the other. What is there already is left alone, so that a
 * publication which broke off can be run again.
 *
 * @param {string[]} folders absolute, as `stagePackages` gives them
 * @param {object} options
 * @param {NodeJS.ProcessEnv} options.env npm's settings: registry, token, provenance
 * @param {(line: string) => void} options.report hears a line for each package
 */
function publishPackages(folders, { env, report }) {
  for (const folder of folders) {
    const { name, version } = readJson(path.join(folder, 'package.json'));
    const id = `${name}@${version}`;
    if (isPublished(id, env)) {
      report(`${id} is there already`);
      continue;
    }
    // A version such as 1.0.0-beta.1 must not become what `npm install` takes.
    const tag = version.includes('-') ? 'next' : 'latest';
    const command = ['npm', 'publish', '--ignore-scripts', '--access=public', `--tag=${tag}`];
    run(command, { cwd: folder, env });
    report(`${id} published`);
  }
}

/**
 * @param {string} id name and version
 * @param {NodeJS.ProcessEnv} env
 */
function isPublished(id, env) {
  const { ok, stdout, output } = capture(['npm', 'view', '--json', id, 'version'], { env });
  // A version that is not there is no error for npm, a name that is not there is one.
  if (ok) return stdout.trim() !== '';
  if (output.includes('E404')) return false;
  throw new Error(`\`npm view ${id}\` failed:\n${output}`);
}

module.exports = { publishPackages };
