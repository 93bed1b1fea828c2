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

/** The programs of a text, as they stand there. */
function programs(text = readme) {
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, program]) => program);
}

/** What is printed by the programs of each guide. @type {Record<string, string[]>} */
const GUIDES = {
  'promises.md': ['hello promises\n', 'hello pool\n', 'AbortError false\n'],
};

/** @param {string} name */
function guide(name) {
  return fs.readFileSync(path.join(ROOT, 'docs', name), 'utf8');
}

/**
 * A project that has installed oxwire, with the types of Node.
 *
 * @param {import('node:test').TestContext} t
 */
function project(t) {
  const folder = temporaryFolder(t);
  fs.mkdirSync(path.join(folder, 'node_modules'));
  const installed = { oxwire: ROOT, '@types': path.join(ROOT, 'node_modules/@types') };
  for (const [name, target] of Object.entries(installed)) {
    fs.symlinkSync(target, path.join(folder, 'node_modules', name), 'junction');
  }
  return folder;
}

/**
 * Puts a program into a project.
 *
 * @param {string} folder
 * @param {string} program
 * @param {string} name
 */
function put(folder, program, name) {
  const file = path.join(folder, `${name}${/^import /m.test(program) ? '.mjs' : '.js'}`);
  fs.writeFileSync(file, program);
  return file;
}

/** @param {string[]} arguments_ */
function runNode(...arguments_) {
  const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, { timeout: 60_000 });
  return { status, stdout: String(stdout), stderr: String(stderr) };
}

/**
 * Runs a program in a project that has installed oxwire.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} program
 */
function runInProject(t, program) {
  return runNode(put(project(t), program, 'program'));
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
  const expected = ['hello pool', '11 bytes there, 11 back', 'the server has said goodbye'];
  assert.deepStrictEqual(said.join('').trimEnd().split('\n'), expected);
});

test('the programs of guides print what they say', (t) => {
  for (const [name, expected] of Object.entries(GUIDES)) {
    const text = guide(name);
    const results = programs(text).map((program) => runInProject(t, program));
    assert.deepStrictEqual(
      results,
      expected.map((stdout) => ({ status: 0, stdout, stderr: '' })),
    );
    for (const line of expected) assert.ok(text.includes(`prints \`${line.trim()}\``), line);
  }
});

test('the programs are right to a compiler that checks types strictly', (t) => {
  const folder = project(t);
  const all = [readme, ...Object.keys(GUIDES).map(guide)].flatMap((text) => programs(text));
  all.forEach((program, i) => put(folder, program, `program-${i}`));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    target: 'es2023',
    module: 'node16',
    types: ['node'],
  };
  const config = { compilerOptions, include: ['program-*'] };
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = runNode(tsc, '--project', folder);
  assert.deepStrictEqual([status, stdout], [0, '']);
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
