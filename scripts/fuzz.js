'use strict';

// Fuzzes the targets in fuzz/targets, each for a while, with the address sanitizer. What a run
// learns stays in target/fuzz and speeds up the next one.
//
//   npm run fuzz                              a minute for each target
//   npm run fuzz -- --seconds 600 address     ten minutes for one
//   npm run fuzz -- --case FILE address       one input again

const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');

const { requireCargo } = require('./util/build');
const { capture, show } = require('./util/command');
const { listFiles } = require('./util/files');
const { inRoot } = require('./util/paths');

const VERSION = '0.13.2';
const tools = inRoot('target/tools');

function main() {
  const { values, positionals } = parseArgs({
    options: { seconds: { type: 'string', default: '60' }, case: { type: 'string' } },
    allowPositionals: true,
  });
  const seconds = Math.ceil(Number(values.seconds));
  if (!(seconds > 0 && seconds < 1e6))
    throw new Error(`--seconds takes a number of seconds, not ${values.seconds}.`);
  const all = fs.readdirSync(inRoot('fuzz/targets')).map((file) => path.basename(file, '.rs'));
  const unknown = positionals.filter((target) => !all.includes(target));
  if (unknown.length > 0) throw new Error(`No target ${unknown}: there are ${all.join(', ')}.`);

  ensureCargoFuzz();
  for (const target of positionals.length > 0 ? positionals : all) {
    console.log(`\nfuzz: building ${target}`);
    if (!cargoFuzz('build', target)) throw new Error(`${target} does not build: see above.`);
    if (values.case) replay(target, path.resolve(values.case));
    else fuzz(target, seconds);
  }
}

/** @param {string} target @param {number} seconds */
function fuzz(target, seconds) {
  const corpus = `fuzz/corpus/${target}`;
  const learned = `target/fuzz/${target}`;
  if (listFiles(inRoot(corpus)).length === 0) {
    throw new Error(`Put some inputs for ${target} into ${corpus}, each named for what it is.`);
  }
  fs.mkdirSync(inRoot(learned), { recursive: true });
  console.log(`fuzz: ${target} for ${seconds} s`);
  // libFuzzer adds what it learns to the first of the folders.
  const flags = [`-max_total_time=${seconds}`, '-timeout=10'];
  if (!cargoFuzz('run', target, learned, corpus, '--', ...flags)) {
    throw new Error(
      `${target} failed. Its case is the newest file in fuzz/artifacts/${target}; to run it again: ` +
        `npm run fuzz -- --case FILE ${target}. Copy it to ${corpus}, under a name that says what ` +
        'it is: from then on npm test repeats it.',
    );
  }
  console.log(`fuzz: ${target} held for ${seconds} s`);
}

/** @param {string} target @param {string} file */
function replay(target, file) {
  if (!fs.existsSync(file)) throw new Error(`There is no ${file}.`);
  if (!cargoFuzz('run', target, file)) throw new Error(`${target} failed on ${file}.`);
  console.log(`fuzz: ${target} holds for ${file}`);
}

function ensureCargoFuzz() {
  requireCargo();
  if (capture([`${tools}/bin/cargo-fuzz`, '--version']).output.includes(VERSION)) return;
  console.log('fuzz: installing cargo-fuzz in target/tools');
  const command = ['cargo', 'install', '--locked', '--root', tools, `cargo-fuzz@${VERSION}`];
  if (!show(command)) throw new Error('`cargo install cargo-fuzz` failed: see the error above.');
}

/** @param {string[]} command */
function cargoFuzz(...command) {
  return show([`${tools}/bin/cargo-fuzz`, ...command], {
    env: {
      ...process.env,
      // Sanitizers are for nightly compilers; this makes a stable one take them.
      RUSTC_BOOTSTRAP: '1',
      // The release profile optimizes the coverage counters away.
      CARGO_PROFILE_RELEASE_LTO: 'off',
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
    },
  });
}

try {
  main();
} catch (error) {
  console.error(`\nfuzz: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
