'use strict';

// Publishes every package to a registry on this machine, and installs them from there as a user
// would, with nothing on the PATH: no Rust, no compiler. What it starts and makes is gone when it
// ends.
//
//   npm run rehearse

const assert = require('node:assert');
const { execFile, fork } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout } = require('node:timers/promises');
const { promisify } = require('node:util');

const { readJson } = require('../scripts/util/files');
const { inRoot } = require('../scripts/util/paths');
const { publishPackages } = require('../scripts/util/publication');
const { stagePackages } = require('../scripts/util/stage');

const { version, napi } = readJson(inRoot('package.json'));
/** For each command, in milliseconds: some seconds are usual. */
const TIMEOUT = 120_000;

/** What users install beside ours, from where it is installed here already. */
const OTHERS = [
  'node_modules/typescript',
  'node_modules/undici-types',
  'node_modules/@types/node',
  'benchmark/node_modules/http-parser-js',
  'benchmark/node_modules/turbo-http',
];

class Rehearsal {
  /** @param {string} home a folder for everything, outside of the repository */
  constructor(home) {
    this.home = home;
    this.npmCli = npmCli();
    this.address = '';
    /** @type {Set<import('node:child_process').ChildProcess>} what runs now */
    this.children = new Set();
    for (const folder of ['registry', 'nothing', 'projects']) fs.mkdirSync(path.join(home, folder));
  }

  async run() {
    /** @type {string[]} */
    let folders = [];
    await step('lay out the packages', async (report) => {
      folders = await stagePackages(path.join(this.home, 'packages'));
      for (const folder of folders) report(path.relative(this.home, folder));
    });
    await step('start a registry', async (report) => {
      await this.startRegistry();
      report(this.address);
    });
    await step('publish', (report) => {
      const all = [...OTHERS.map((folder) => inRoot(folder)), ...folders];
      publishPackages(all, { env: this.environment(), registry: this.address, report });
    });
    await step('publish again: nothing to do', () => {
      publishPackages(folders, {
        env: this.environment(),
        registry: this.address,
        report: (line) => assert.match(line, /is there already$/),
      });
    });
    await step('no Rust, no compiler, nothing on the PATH', () => this.expectNoTools());
    await this.install();
    await this.dropIns();
    await this.overrides();
    await this.omitOptional();
  }

  /** Ends what still runs. */
  end() {
    for (const child of this.children) child.kill();
  }

  async startRegistry() {
    const file = path.join(__dirname, 'registry.js');
    const registry = fork(file, [path.join(this.home, 'registry')], {
      cwd: this.home,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.children.add(registry);
    const ended = once(registry, 'exit').then(() => Promise.reject(new Error('it ended at once')));
    const signal = AbortSignal.timeout(TIMEOUT);
    const [address] = await Promise.race([once(registry, 'message', { signal }), ended]);
    this.address = address;
    const userconfig = path.join(this.home, 'npmrc');
    // npm wants to see a token, whatever it is; and no other of this user must come into play.
    const key = `${address.replace('http:', '')}:_authToken`;
    fs.writeFileSync(userconfig, `${key}=rehearsal\n`);
    this.settings = {
      npm_config_registry: address,
      npm_config_userconfig: userconfig,
      npm_config_globalconfig: path.join(this.home, 'nothing/npmrc'),
      npm_config_cache: path.join(this.home, 'cache'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_provenance: 'false',
      npm_config_update_notifier: 'false',
    };
  }

  async install() {
    const project = this.project('empty');
    await step('install oxwire into an empty project', async (report) => {
      await this.npm(project, 'install', 'oxwire');
      const { packages } = readJson(path.join(project, 'node_modules/.package-lock.json'));
      const names = Object.keys(packages).map((name) => name.replace('node_modules/', ''));
      assert.strictEqual(names.length, 2, `installed are ${names}`);
      assert.ok(names.includes('oxwire'));
      assert.ok(names.some((name) => name.startsWith(`${napi.packageName}-${process.platform}-`)));
      for (const entry of Object.values(packages)) assert.ok(!entry.hasInstallScript);
      for (const name of names) report(name);
    });
    await step('echo from CommonJS', async () => {
      const output = await this.program(project, 'echo.cjs');
      assert.strictEqual(output, 'hello from CommonJS\n');
    });
    await step('echo from an ES module', async () => {
      const output = await this.program(project, 'echo.mjs');
      assert.strictEqual(output, 'hello from an ES module\n');
    });
    await step('promises', async () => {
      const output = await this.program(project, 'promises.mjs');
      assert.strictEqual(output, 'hello from promises\n');
    });
  }

  async dropIns() {
    const project = this.project('drop-ins');
    const expected =
      '@oxwire/turbo-net: Connection Server connect createServer\n' +
      '@oxwire/engine.io-parser: nothing yet\n' +
      '@oxwire/socket.io-parser: nothing yet\n';
    await step('install the drop-ins', () => {
      const names = fs.readdirSync(inRoot('packages')).map((name) => `@oxwire/${name}`);
      return this.npm(project, 'install', 'oxwire', ...names);
    });
    await step('load them from CommonJS', async () => {
      assert.strictEqual(await this.program(project, 'drop-ins.cjs'), expected);
    });
    await step('load them from an ES module', async () => {
      assert.strictEqual(await this.program(project, 'drop-ins.mjs'), expected);
    });
    await step('load them as a bundler for browsers does', async () => {
      const modules = ['turbo-net', 'engine.io-parser', 'socket.io-parser'];
      const files = modules.map((name) => `${name}/browser.js`).join(' ');
      const output = await this.program(project, 'browser.mjs', '--conditions=browser');
      assert.strictEqual(output, `${files}\n0\n`);
    });
    await step('check the types of programs that use all of them', async () => {
      await this.npm(project, 'install', '--save-dev', 'typescript', '@types/node');
      const files = ['types.cts', 'types.mts'];
      for (const file of files) copyProgram(project, file);
      const tsc = ['node_modules/typescript/bin/tsc', '--noEmit', '--strict'];
      await this.node(project, ...tsc, '--module', 'node16', ...files);
      const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler'];
      await this.node(project, ...tsc, ...bundler, 'types.mts');
    });
  }

  async overrides() {
    const ways = manifestsInReadme('packages/turbo-net');
    assert.strictEqual(ways.length, 2);
    for (const [index, manifest] of ways.entries()) {
      const project = this.project(`overrides-${index}`, manifest);
      const fields = Object.keys(manifest).join(' and ');
      await step(`override turbo-net under turbo-http, by ${fields}`, async () => {
        await this.npm(project, 'install', 'turbo-http');
        const installed = readJson(path.join(project, 'node_modules/turbo-net/package.json'));
        assert.strictEqual(installed.name, '@oxwire/turbo-net');
        await this.npm(project, 'ls', '--all');
      });
      await step('serve requests with it', async () => {
        const output = await this.program(project, 'http.js');
        assert.strictEqual(output, '210 requests answered on @oxwire/turbo-net\n');
      });
    }
  }

  async omitOptional() {
    const project = this.project('omit-optional');
    await step('install with --omit=optional, and read the error', async () => {
      await this.npm(project, 'install', '--omit=optional', 'oxwire');
      const failure = await this.program(project, 'echo.cjs').catch((error) => error.stderr);
      const packageName = `${napi.packageName}-${process.platform}-${process.arch}`;
      assert.match(failure, new RegExp(`^Error: oxwire ${version} has no native addon for `, 'm'));
      assert.match(failure, new RegExp(`${packageName}.* is not installed`));
      assert.match(failure, /npm install --include=optional/);
      assert.match(failure, /code: 'MODULE_NOT_FOUND'/);
    });
    await step('do what the error says', async () => {
      await this.npm(project, 'install', '--include=optional');
      assert.strictEqual(await this.program(project, 'echo.cjs'), 'hello from CommonJS\n');
    });
  }

  async expectNoTools() {
    for (const tool of ['cargo', 'rustc', 'cc', 'gcc', 'clang', 'python3', 'node']) {
      await assert.rejects(this.execute(this.home, tool, ['--version']), { code: 'ENOENT' }, tool);
    }
  }

  /**
   * Makes an empty project.
   *
   * @param {string} name
   * @param {object} [manifest] what its package.json has beside a name
   */
  project(name, manifest) {
    const folder = path.join(this.home, 'projects', name);
    fs.mkdirSync(folder);
    const text = JSON.stringify({ name, private: true, ...manifest });
    fs.writeFileSync(path.join(folder, 'package.json'), text);
    return folder;
  }

  /**
   * Copies a program into a project and runs it there.
   *
   * @param {string} project
   * @param {string} file
   * @param {string[]} flags of Node
   */
  program(project, file, ...flags) {
    copyProgram(project, file);
    return this.node(project, ...flags, file);
  }

  /** @param {string} project @param {string[]} command */
  npm(project, ...command) {
    return this.node(project, this.npmCli, ...command);
  }

  /** @param {string} project @param {string[]} command */
  node(project, ...command) {
    return this.execute(project, process.execPath, command);
  }

  /**
   * The environment with the settings of the rehearsal for npm, and none of this user's for npm,
   * Node and oxwire; and no proxy, which could take what is published somewhere else.
   */
  environment() {
    const others = /^(npm_.*|node_.*|napi_.*|oxwire_.*|.*_proxy)$/i;
    const inherited = Object.entries(process.env).filter(([name]) => !others.test(name));
    return { ...Object.fromEntries(inherited), ...this.settings };
  }

  /**
   * Runs a program as a user would who has Node and nothing else.
   *
   * @param {string} cwd
   * @param {string} file
   * @param {string[]} command
   * @returns {Promise<string>} what it printed
   */
  async execute(cwd, file, command) {
    const env = { ...this.environment(), PATH: path.join(this.home, 'nothing') };
    const options = { cwd, env, timeout: TIMEOUT, maxBuffer: 1 << 26 };
    const running = promisify(execFile)(file, command, options);
    this.children.add(running.child);
    const { stdout } = await running.finally(() => this.children.delete(running.child));
    return stdout;
  }
}

/**
 * @param {string} folder of a drop-in
 * @returns {object[]} what its README tells one to write into package.json
 */
function manifestsInReadme(folder) {
  const readme = fs.readFileSync(inRoot(folder, 'README.md'), 'utf8');
  return [...readme.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => JSON.parse(json));
}

/** @param {string} project @param {string} file */
function copyProgram(project, file) {
  fs.copyFileSync(path.join(__dirname, 'programs', file), path.join(project, file));
}

/** npm as a file, since no PATH leads to it. */
function npmCli() {
  const file = process.env.npm_execpath ?? '';
  if (/npm-cli\.c?js$/.test(file)) return file;
  throw new Error('Run this with npm: npm run rehearse');
}

/**
 * Does one step and says so.
 *
 * @param {string} name
 * @param {(report: (line: string) => void) => unknown} action `report` shows a line below
 */
async function step(name, action) {
  const start = process.hrtime.bigint();
  /** @type {string[]} */
  const lines = [];
  process.stdout.write(`${name.padEnd(64)} `);
  try {
    await action((line) => lines.push(line));
  } catch (error) {
    console.log('FAILED');
    throw error;
  }
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  console.log(`ok  ${seconds.toFixed(1)} s`);
  for (const line of lines) console.log(`  ${line}`);
}

async function main() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'oxwire-rehearsal-'));
  const rehearsal = new Rehearsal(home);
  process.on('exit', () => {
    rehearsal.end();
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      console.log('\ninterrupted');
      process.exit(1);
    });
  }
  await rehearsal.run();
  console.log('\nEverything installs and runs as it would for a user.');
  rehearsal.end();
}

main().catch(async (error) => {
  // A signal ends the command that runs as well. Then the signal is what is to be told.
  await setTimeout(100);
  console.error(`\nrehearsal: ${error?.stack ?? error}`);
  if (error?.stdout) console.error(error.stdout);
  process.exit(1);
});
