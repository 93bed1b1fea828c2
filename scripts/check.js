'use strict';

// Runs every check of the sources, each to its end whether or not another has failed, and exits
// with 1 if any has. `npm run check` installs and builds first.

const { capture } = require('./util/command');

const node = process.execPath;
const tsc = 'node_modules/typescript/bin/tsc';

/** @type {{ name: string, command: string[], fix?: string }[]} */
const checks = [
  {
    name: 'rustfmt',
    command: ['cargo', 'fmt', '--all', '--check'],
    fix: 'npm run format',
  },
  {
    name: 'clippy',
    command:
      'cargo clippy --quiet --workspace --all-targets --features peers/io-uring -- --deny warnings'.split(
        ' ',
      ),
  },
  {
    name: 'prettier',
    command: [node, 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'],
    fix: 'npm run format',
  },
  {
    name: 'oxlint',
    command: [node, 'node_modules/oxlint/dist/cli.js', '--deny-warnings'],
  },
  {
    name: 'types',
    command: [node, tsc, '--project', '.'],
  },
  {
    name: 'types of tests',
    command: [node, tsc, '--project', '__test__'],
  },
  {
    name: 'generated files',
    command: [node, 'scripts/check-generated.js'],
  },
  {
    name: 'workflows',
    command: [node, 'scripts/check-workflows.js'],
  },
  {
    name: 'packages',
    command: [node, 'scripts/check-packages.js'],
  },
];

const failed = checks.filter((check) => !passes(check)).map(({ name }) => name);
const names = failed.length > 0 ? `: ${failed.join(', ')}` : '';
console.log(`\nchecks: ${checks.length - failed.length} passed, ${failed.length} failed${names}`);
if (failed.length > 0) process.exitCode = 1;

/** @param {typeof checks[number]} check */
function passes({ name, command, fix }) {
  process.stdout.write(`${name.padEnd(16)} `);
  const start = process.hrtime.bigint();
  const { ok, output } = capture(command);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  console.log(`${ok ? 'ok' : 'FAILED'}  ${seconds.toFixed(1)} s`);
  if (ok) return true;
  console.log(`\n${output.trim()}\n`);
  if (fix) console.log(`\`${fix}\` puts this right.\n`);
  return false;
}
