'use strict';

// Fuzzes the targets in fuzz/targets, each for a while, with the address sanitizer. What a run
// learns stays in target/fuzz and speeds up the next one.
//
//   npm run fuzz                              a minute for each target
//   npm run fuzz -- --seconds 600 address     ten minutes for one

const fs = require('node:fs');
const { parseArgs } = require('node:util');

const { capture, show } = require('./util/command');
const { inRoot } = require('./util/paths');

const VERSION = '0.13.2';
const tools = inRoot('target/tools');

function main() {
  const { values, positionals } = parseArgs({
    options: { seconds: { type: 'string', default: '60' } },
    allowPositionals: true,
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`--seconds takes a number, not ${values.seconds}.`);
  const all = fs.readdirSync(inRoot('fuzz/targets')).map((file) => file.replace('.rs', ''));
  const unknown = positionals.filter((target) => !all.includes(target));
  if (unknown.length > 0) throw new Error(`No target ${unknown}: there are ${all.join(', ')}.`);

  ensureCargoFuzz();
  for (const target of positionals.length > 0 ? positionals : all) fuzz(target, Math.ceil(seconds));
}

/** @param {string} target @param {number} seconds */
function fuzz(target, seconds) {
  console.log(`\nfuzz: ${target}, ${seconds} s after it is built`);
  const learned = `target/fuzz/${target}`;
  fs.mkdirSync(inRoot(learned), { recursive: true });
  const flags = [`-max_total_time=${seconds}`, '-timeout=10', '-print_final_stats=1'];
  // libFuzzer adds what it learns to the first of the folders.
  const command = [learned, `fuzz/corpus/${target}`, '--', ...flags];
  if (cargoFuzz('run', target, ...command)) return;
  throw new Error(
    `${target} failed. Copy the case from fuzz/artifacts/${target}/ to fuzz/corpus/${target}/, ` +
      'under a name that says what it is: from then on cargo test repeats it.',
  );
}

function ensureCargoFuzz() {
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
