'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');

const { show, capture } = require('./command');
const { listFiles, readJson } = require('./files');
const { inRoot, root } = require('./paths');

/** Says what the last build was made from and what it made. */
const stampFile = inRoot('target', 'oxwire-build.json');

/** Builds the addon, unless the last build was made from the same sources and is still there. */
function ensureBuilt() {
  const inputs = hashInputs();
  const stamp = readStamp();
  if (stamp?.inputs === inputs && stamp.outputs === hashOutputs()) return;

  requireCargo();
  console.log('ensure: building the addon in release mode');
  if (!show(['npm', 'run', '--silent', 'build'])) {
    throw new Error('`npm run build` failed: see the error above.');
  }
  const outputs = hashOutputs();
  if (!outputs)
    throw new Error(`\`npm run build\` has made no addon for ${platform()} in ${root}.`);
  fs.mkdirSync(inRoot('target'), { recursive: true });
  fs.writeFileSync(stampFile, `${JSON.stringify({ inputs, outputs })}\n`);
}

function readStamp() {
  try {
    return readJson(stampFile);
  } catch {
    return undefined; // cut short while it was written
  }
}

/** @returns {string} a digest of everything the addon and its loader are made from */
function hashInputs() {
  const { name, version, scripts, napi } = readJson(inRoot('package.json'));
  const settings = { name, version, build: scripts.build, napi, platform: platform() };
  const sources = listFiles(inRoot('src')).map((file) => `src/${file}`);
  const others = ['Cargo.toml', 'Cargo.lock', 'build.rs', '.cargo/config.toml', 'scripts/build.js'];
  const digest = createHash('sha256').update(JSON.stringify(settings));
  for (const file of [...sources, ...others]) {
    if (fs.existsSync(inRoot(file))) hashFile(digest, file);
  }
  return digest.digest('hex');
}

/** @returns {string | undefined} a digest of this platform's addon, if the build is complete */
function hashOutputs() {
  const present = new Set(fs.readdirSync(root));
  const addons = [...present].filter((file) => file.startsWith(`oxwire.${platform()}`)).sort();
  const complete = addons.length > 0 && present.has('binding.js') && present.has('binding.d.ts');
  if (!complete) return undefined;
  const digest = createHash('sha256');
  for (const file of addons) hashFile(digest, file);
  return digest.digest('hex');
}

/**
 * @param {import('node:crypto').Hash} digest
 * @param {string} file relative to the root
 */
function hashFile(digest, file) {
  const content = fs.readFileSync(inRoot(file));
  digest.update(`${file}\0${content.length}\0`).update(content);
}

/** How the name of this machine's addon begins. */
function platform() {
  return `${process.platform}-${process.arch}`;
}

function requireCargo() {
  if (capture(['cargo', '--version']).ok) return;
  throw new Error(
    'oxwire is built with Rust, and `cargo` does not run here. Install a Rust toolchain ' +
      '(https://rustup.rs, or the packages of your system), open a new terminal, and try again.',
  );
}

module.exports = { ensureBuilt, requireCargo };
