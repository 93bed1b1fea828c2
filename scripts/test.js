'use strict';

// Runs the Node tests: all of them, or the files and the flags of `node --test` that are given.
// Node 20's test runner takes no patterns, so this lists the files. Tests that have to do with sockets
// run once with each driver, or with the one that OXWIRE_DRIVER names.
//
//   node scripts/test.js
//   npm test -- __test__/net/socket.test.js

const fs = require('node:fs');

const { show } = require('./util/command');
const { listFiles } = require('./util/files');
const { inRoot } = require('./util/paths');

const given = process.argv.slice(2);
const flags = given.filter((argument) => argument.startsWith('-'));
const files = given.filter((argument) => !argument.startsWith('-'));
// A test that hangs is to fail. Nodes before 20.11 don't know the flag.
const [major, minor] = process.versions.node.split('.').map(Number);
const limit = major > 20 || minor >= 11 ? ['--test-timeout=120000'] : [];
const all = ['__test__', 'benchmark/test']
  .flatMap((folder) => listFiles(inRoot(folder)).map((file) => `${folder}/${file}`))
  .filter((file) => file.endsWith('.test.js'));

if (all.length === 0) throw new Error('There is no __test__/**/*.test.js to run.');
const missing = files.filter((file) => !fs.existsSync(file));
if (missing.length > 0) {
  console.error(`test: there is no ${missing.join(', ')}. There are:\n  ${all.join('\n  ')}`);
  process.exitCode = 1;
} else {
  const chosen = files.length > 0 ? files : all;
  const [first, ...others] = drivers();
  run(first, chosen);
  for (const driver of others) run(driver, chosen.filter(needsSockets));
}

/** The drivers to test with; Windows has one. */
function drivers() {
  if (process.env.OXWIRE_DRIVER) return [process.env.OXWIRE_DRIVER];
  return process.platform === 'win32' ? ['tokio'] : ['loop', 'tokio'];
}

/**
 * @param {string} driver
 * @param {string[]} chosen
 */
function run(driver, chosen) {
  if (chosen.length === 0) return;
  console.log(`test: ${chosen.length} files, driver ${driver}`);
  const runner = ['--test', '--test-reporter=spec', ...limit, ...flags, ...chosen];
  const env = { ...process.env, OXWIRE_DRIVER: driver };
  if (!show([process.execPath, ...runner], { env })) process.exitCode = 1;
}

/** @param {string} file */
function needsSockets(file) {
  return !/^(__test__\/(native|scripts)|benchmark\/)/.test(file);
}
