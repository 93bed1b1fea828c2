'use strict';

// Makes a checkout ready to run: installs the tools and builds the addon, each only if it is missing
// or out of date. Says what it does; says nothing if there is nothing to do. It runs before anything
// is installed, so it uses nothing but Node.
//
//   node scripts/ensure.js             the tools and the addon
//   node scripts/ensure.js --test      what the tests and benchmarks need as well
//   node scripts/ensure.js --rehearse  what the rehearsal of a publication needs as well
//   node scripts/ensure.js --no-build  the tools alone

const { ensureBuilt } = require('./util/build');
const { ensureInstalled } = require('./util/install');

function main() {
  const flags = new Set(process.argv.slice(2));
  requireNode();
  ensureInstalled('.');
  if (!flags.has('--no-build')) ensureBuilt();
  // The peers' install scripts compile their own addons, which no test needs.
  if (flags.has('--test')) ensureInstalled('benchmark', ['--ignore-scripts']);
  if (flags.has('--rehearse')) ensureInstalled('rehearsal', ['--ignore-scripts']);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 9)) return;
  throw new Error(`oxwire needs Node 20.9 or later, and this is ${process.version}. Update Node.`);
}

try {
  main();
} catch (error) {
  console.error(`\nensure: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
