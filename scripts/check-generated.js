'use strict';

// Generates every generated file anew, beside the tree, and fails if one in the tree is another.

const fs = require('node:fs');

const { capture, run } = require('./util/command');
const { listFiles } = require('./util/files');
const { inRoot, napiCli } = require('./util/paths');

/** Inside the project, since `napi create-npm-dirs` writes nowhere else. */
const scratch = 'target/generated';

fs.rmSync(inRoot(scratch), { recursive: true, force: true });
fs.mkdirSync(inRoot(scratch), { recursive: true });
run(['npm', 'run', '--silent', 'build', '--', '--output-dir', scratch]);
run([process.execPath, napiCli, 'create-npm-dirs', '--npm-dir', `${scratch}/npm`]);

const problems = [...differences(), ...staleInGit()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('Generated files are not edited by hand: run `npm run generate` and commit them.');
  process.exitCode = 1;
}

/** @returns {string[]} how the tree differs from what was generated */
function differences() {
  const expected = generatedFiles(scratch);
  const actual = generatedFiles('.');
  return [...new Set([...expected, ...actual])].sort().flatMap((file) => {
    if (!actual.includes(file)) return [`${file} is missing.`];
    if (!expected.includes(file)) return [`${file} is no longer generated: delete it.`];
    return read(file) === read(`${scratch}/${file}`) ? [] : [`${file} is out of date.`];
  });
}

/**
 * A build has already brought the loader in the tree up to date. In CI, where the tree is a clean
 * clone, git knows whether that changed what was committed.
 *
 * @returns {string[]}
 */
function staleInGit() {
  if (!process.env.CI) return [];
  const files = ['binding.js', 'binding.d.ts', 'npm', 'Cargo.lock'];
  const { ok, stdout } = capture(['git', 'diff', '--name-only', 'HEAD', '--', ...files]);
  if (!ok) return []; // not a git checkout
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((file) => `${file} was committed out of date.`);
}

/**
 * @param {string} folder where to look, relative to the root
 * @returns {string[]} the generated text files in it
 */
function generatedFiles(folder) {
  const loader = ['binding.js', 'binding.d.ts'];
  const packages = listFiles(inRoot(folder, 'npm')).map((file) => `npm/${file}`);
  return [...loader.filter((file) => fs.existsSync(inRoot(folder, file))), ...packages].filter(
    (file) => !file.endsWith('.node'),
  );
}

/** @param {string} file */
function read(file) {
  return fs.readFileSync(inRoot(file), 'utf8').replaceAll('\r\n', '\n');
}
