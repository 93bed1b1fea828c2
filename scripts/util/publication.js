'use strict';

const path = require('node:path');

const { capture, run } = require('./command');
const { readJson } = require('./files');
const { pack } = require('./pack');

/**
 * Publishes packages, one after the other. What is there already is left alone, so that a
 * publication which broke off can be run again.
 *
 * @param {string[]} folders absolute, as `stagePackages` gives them
 * @param {object} options
 * @param {NodeJS.ProcessEnv} options.env npm's settings: token, provenance
 * @param {string} [options.registry] where to, whatever npm's settings say
 * @param {(line: string) => void} options.report hears a line for each package
 */
function publishPackages(folders, { env, registry, report }) {
  // A registry of the scope would come first otherwise.
  const flags = registry ? [`--registry=${registry}`, `--@oxwire:registry=${registry}`] : [];
  for (const folder of folders) {
    const { name, version } = readJson(path.join(folder, 'package.json'));
    const id = `${name}@${version}`;
    const published = publishedIntegrity(id, flags, env);
    if (published !== undefined) {
      const isSame = published === pack(folder).integrity;
      report(`${id} is there already${isSame ? '' : ', with other content'}`);
      continue;
    }
    // A version such as 1.0.0-beta.1 must not become what `npm install` takes.
    const tag = version.includes('-') ? 'next' : 'latest';
    const command = ['npm', 'publish', '--ignore-scripts', '--access=public', `--tag=${tag}`];
    run([...command, ...flags], { cwd: folder, env });
    report(`${id} published`);
  }
}

/**
 * @param {string} id name and version
 * @param {string[]} flags
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined} the digest of what is published under it
 */
function publishedIntegrity(id, flags, env) {
  const command = ['npm', 'view', '--json', id, 'dist.integrity', ...flags];
  const { ok, stdout, output } = capture(command, { env });
  // A version that is not there is no error for npm, a name that is not there is one.
  if (ok) return stdout.trim() === '' ? undefined : JSON.parse(stdout);
  if (output.includes('E404')) return undefined;
  throw new Error(`The registry does not say whether ${id} is there:\n${output}`);
}

module.exports = { publishPackages };
