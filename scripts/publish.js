'use strict';

// Publishes every package in the version of package.json, for which the addons of all targets must
// be in the root folder. Run by CI on a version tag; `npm run rehearse` runs the same code against a
// registry of its own.
//
//   node scripts/publish.js            publishes
//   node scripts/publish.js --dry-run  lays the packages out in target/packages, and says what would
//                                      be published

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { run } = require('./util/command');
const { readJson } = require('./util/files');
const { inRoot } = require('./util/paths');
const { publishPackages } = require('./util/publication');
const { stagePackages } = require('./util/stage');

async function main() {
  requireMatchingTag();
  const folders = await stagePackages(inRoot('target/packages'), { complete: true });
  if (process.argv.includes('--dry-run')) {
    for (const folder of folders) {
      const { name, version } = readJson(path.join(folder, 'package.json'));
      console.log(`${name}@${version}  ${folder}`);
    }
    return;
  }
  withToken((env) => publishPackages(folders, { env, report: console.log }));
}

/** A tag of another version than that of package.json is a slip. */
function requireMatchingTag() {
  const { GITHUB_REF_TYPE, GITHUB_REF_NAME } = process.env;
  const { version } = readJson(inRoot('package.json'));
  if (GITHUB_REF_TYPE !== 'tag' || GITHUB_REF_NAME === `v${version}`) return;
  throw new Error(
    `The tag is ${GITHUB_REF_NAME}, and package.json says version ${version}. ` +
      'Make tags with npm version.',
  );
}

/**
 * Calls with settings in which npm finds the token of NPM_TOKEN. Without one they are those that
 * are there: a login, or the identity of the workflow (trusted publishing).
 *
 * @param {(env: NodeJS.ProcessEnv) => void} callback
 */
function withToken(callback) {
  if (!process.env.NPM_TOKEN) return callback(process.env);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oxwire-publish-'));
  try {
    const userconfig = path.join(folder, 'npmrc');
    const registry = run(['npm', 'config', 'get', 'registry']).trim();
    // npm puts the token in itself: it is in no file.
    const key = `${registry.replace(/^https?:/, '').replace(/\/?$/, '/')}:_authToken`;
    fs.writeFileSync(userconfig, `${key}=\${NPM_TOKEN}\n`);
    callback({ ...process.env, npm_config_userconfig: userconfig });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

main().catch((error) => {
  console.error(`\npublish: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
});
