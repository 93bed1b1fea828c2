'use strict';

// Lays every package out in the version of package.json, and publishes them if it is told to. CI
// does that on a version tag; `npm run rehearse` runs the same code against a registry of its own.
//
//   node scripts/publish.js            lays out what is built here in target/packages
//   node scripts/publish.js --publish  publishes, for which the addons of all targets must be in
//                                      the root folder

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');

const { run } = require('./util/command');
const { readJson } = require('./util/files');
const { inRoot } = require('./util/paths');
const { publishPackages } = require('./util/publication');
const { stagePackages } = require('./util/stage');

async function main() {
  const { publish } = parseArgs({ options: { publish: { type: 'boolean' } } }).values;
  // For npm publish alone: no tool that prepares something has to know it.
  const token = process.env.NPM_TOKEN;
  delete process.env.NPM_TOKEN;

  if (publish) requireRelease();
  const folders = await stagePackages(inRoot('target/packages'), { complete: publish });
  if (publish) withToken(token, (env) => publishPackages(folders, { env, report: console.log }));
  else for (const folder of folders) console.log(`laid out in ${path.relative('.', folder)}`);
}

/** What is published can't be taken back, so what is forgotten easily is looked for. */
function requireRelease() {
  const { version } = readJson(inRoot('package.json'));
  const { GITHUB_REF_TYPE, GITHUB_REF_NAME } = process.env;
  if (GITHUB_REF_TYPE === 'tag' && GITHUB_REF_NAME !== `v${version}`) {
    throw new Error(`The tag is ${GITHUB_REF_NAME}, and package.json says version ${version}.`);
  }
  if (!read('CHANGELOG.md').includes(`\n## [${version}]`)) {
    throw new Error(`CHANGELOG.md has no heading ## [${version}].`);
  }
  if (/not published yet/.test(read('README.md'))) {
    throw new Error('README.md says that oxwire is not published yet.');
  }
}

/**
 * Calls with settings in which npm finds the token. Without one they are those that are there: a
 * login, or the identity of the workflow (trusted publishing).
 *
 * @param {string | undefined} token
 * @param {(env: NodeJS.ProcessEnv) => void} callback
 */
function withToken(token, callback) {
  if (!token) return callback(process.env);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oxwire-publish-'));
  try {
    const userconfig = path.join(folder, 'npmrc');
    const registry = run(['npm', 'config', 'get', 'registry']).trim();
    // npm puts the token in itself: it is in no file.
    const key = `${registry.replace(/^https?:/, '').replace(/\/?$/, '/')}:_authToken`;
    fs.writeFileSync(userconfig, `${key}=\${NPM_TOKEN}\n`);
    callback({ ...process.env, NPM_TOKEN: token, npm_config_userconfig: userconfig });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** @param {string} file */
function read(file) {
  return fs.readFileSync(inRoot(file), 'utf8');
}

main().catch((error) => {
  console.error(`\npublish: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
});
