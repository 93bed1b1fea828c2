'use strict';

// What the documentation shows runs as written.

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { test } = require('node:test');
const { temporaryFolder } = require('./support/folders');

const ROOT = path.join(__dirname, '..');
const readme = fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8');

/** The programs of the README, as they stand there. */
function programs() {
  return [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, program]) => program);
}

/**
 * Runs a program in a project that has installed oxwire.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} program
 */
function runInProject(t, program) {
  const folder = temporaryFolder(t);
  fs.mkdirSync(path.join(folder, 'node_modules'));
  fs.symlinkSync(ROOT, path.join(folder, 'node_modules/oxwire'), 'junction');
  const isModule = /^import /m.test(program);
  const file = path.join(folder, isModule ? 'program.mjs' : 'program.js');
  fs.writeFileSync(file, program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { timeout: 20_000 });
  return { status, stdout: String(stdout), stderr: String(stderr) };
}

test("the README's echo program prints what the README says", (t) => {
  const [echo] = programs();
  assert.match(echo, /^\/\/ echo\.js\n/);
  assert.match(readme, /It prints `hello world` and ends\./);
  assert.deepStrictEqual(runInProject(t, echo), { status: 0, stdout: 'hello world\n', stderr: '' });
});

test("the README's other programs run", (t) => {
  const others = programs().slice(1);
  assert.ok(others.length > 0);
  const said = [];
  for (const program of others) {
    const { status, stdout, stderr } = runInProject(t, program);
    assert.deepStrictEqual([status, stderr], [0, ''], program);
    said.push(stdout);
  }
  assert.strictEqual(said.join(''), 'hello pool\n11 bytes there, 11 back\n');
});

test('links within the repository lead somewhere', () => {
  const folders = ['.', 'benchmark', 'docs', 'packages/turbo-net'];
  for (const folder of folders.map((name) => path.join(ROOT, name))) {
    const files = fs.readdirSync(folder).filter((file) => file.endsWith('.md'));
    assert.ok(files.length > 0, folder);
    for (const file of files) {
      const text = fs.readFileSync(path.join(folder, file), 'utf8');
      for (const [, link] of text.matchAll(/\]\((?!\w+:|#)([^)#]+)/g)) {
        assert.ok(fs.existsSync(path.join(folder, link)), `${file} links to ${link}`);
      }
    }
  }
});

test("the README's figures are those that were measured", () => {
  const { withFigures } = require('../benchmark/readme');
  // Tables are laid out by the formatter: compare what is in them.
  const compact = (/** @type {string} */ text) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
  assert.strictEqual(compact(readme), compact(withFigures(readme)));
});

test('the soak example finds that nothing grows, and a descriptor that does', (t) => {
  const soak = path.join(ROOT, 'examples/soak.js');
  const run = (/** @type {string[]} */ ...flags) =>
    spawnSync(process.execPath, [...flags, soak, '--seconds', '1'], { timeout: 60_000 });
  const clean = run();
  assert.strictEqual(clean.status, 0, `${clean.stdout}${clean.stderr}`);
  assert.match(String(clean.stdout), /Nothing grew/);

  const leak = path.join(temporaryFolder(t), 'leak.js');
  fs.writeFileSync(leak, `setInterval(() => require('fs').openSync('${leak}'), 200).unref();`);
  const leaking = run('--require', leak);
  assert.strictEqual(leaking.status, 1, `${leaking.stdout}${leaking.stderr}`);
  assert.match(String(leaking.stdout), /descriptors .* GREW/);
});

test('the echo example checks every byte and sums up', () => {
  const file = path.join(ROOT, 'examples/echo.js');
  const arguments_ = [file, '--seconds', '1'];
  const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, { timeout: 20_000 });
  assert.strictEqual(status, 0, String(stderr));
  assert.match(String(stdout), /every byte came back as it was sent/);
  assert.match(String(stdout), /messages {2}[\d,]{4,}/);
});

test('the proxy example checks every byte and sums up', () => {
  const file = path.join(ROOT, 'examples/proxy.js');
  for (const splice of [[], ['--splice']]) {
    const arguments_ = [file, '--seconds', '1', ...splice];
    const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, { timeout: 20_000 });
    assert.strictEqual(status, 0, String(stderr));
    assert.match(String(stdout), /every byte came back as it was sent/);
    assert.match(String(stdout), /ended {5}[\d,]{2,} on both sides, 0 otherwise/);
  }
});
