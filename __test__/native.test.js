'use strict';

// What one reads where the native addon is missing, or is not the right one.

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { test } = require('node:test');
const { temporaryFolder } = require('./support/folders');

const ROOT = path.join(__dirname, '..');
const { version, napi } = require('../package.json');
const HERE = `${process.platform}-${process.arch}`;
const ADDON = fs.readdirSync(ROOT).find((file) => file.startsWith(`oxwire.${HERE}`));

/** Names of the platform packages, as publishing writes them into package.json. */
const PACKAGES = ['darwin-arm64', 'linux-x64-gnu', 'linux-x64-musl', 'win32-x64-msvc'].map(
  (platform) => `${napi.packageName}-${platform}`,
);

/**
 * Loads the package, as published, from a folder without an addon.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ platform?: string, manifest?: object, addon?: string | Buffer, env?: object, flags?: string[] }} [options]
 *   `platform` is to be told instead of this one, `addon` is the content of its file
 * @returns {{ code?: string, message?: string, cause?: string }} the error; empty where it loads
 */
function load(t, { platform, manifest, addon, env, flags = [] } = {}) {
  const folder = temporaryFolder(t);
  for (const file of ['index.js', 'binding.js', 'lib']) {
    fs.cpSync(path.join(ROOT, file), path.join(folder, file), { recursive: true });
  }
  const optionalDependencies = Object.fromEntries(PACKAGES.map((name) => [name, version]));
  fs.writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'oxwire', version, optionalDependencies, ...manifest }),
  );
  if (addon !== undefined) fs.writeFileSync(path.join(folder, ADDON), addon);
  const pretend = platform
    ? `const [platform, arch] = ${JSON.stringify(platform.split('-'))};
       Object.defineProperty(process, 'platform', { value: platform });
       Object.defineProperty(process, 'arch', { value: arch });`
    : '';
  const program = `${pretend}
    try {
      require('./index.js');
      console.log('{}');
    } catch ({ code, message, cause }) {
      console.log(JSON.stringify({ code, message, cause: cause?.message }));
    }`;
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', program], {
    cwd: folder,
    env: { ...process.env, ...env },
    timeout: 20_000,
  });
  assert.strictEqual(String(stderr), '');
  return JSON.parse(String(stdout));
}

test('where the package of the platform is not installed, the error names it', (t) => {
  const linux = load(t, { platform: 'linux-x64' });
  assert.deepStrictEqual(linux, {
    code: 'MODULE_NOT_FOUND',
    message:
      `oxwire ${version} has no native addon for linux-x64. ` +
      '@oxwire/oxwire-linux-x64-gnu or @oxwire/oxwire-linux-x64-musl is not installed, or not ' +
      'whole. It is an optional dependency: install again with those, as by npm install ' +
      '--include=optional. If that brings nothing, delete node_modules before, and the lock file ' +
      'if it came from another platform.',
  });
  const darwin = load(t, { platform: 'darwin-arm64' });
  assert.match(darwin.message, /\. @oxwire\/oxwire-darwin-arm64 is not installed, /);
});

test('where there is no package for the platform, the error lists those that there are', (t) => {
  for (const platform of ['freebsd-x64', 'linux-ppc64', 'linux-x6', 'darwin-x64']) {
    assert.deepStrictEqual(load(t, { platform }), {
      code: 'MODULE_NOT_FOUND',
      message:
        `oxwire ${version} has no native addon for ${platform}. ` +
        'There are ones for darwin-arm64, linux-x64-gnu, linux-x64-musl, win32-x64-msvc. ' +
        'Elsewhere build it from its sources, with Rust, and set NAPI_RS_NATIVE_LIBRARY_PATH ' +
        'to the file.',
    });
  }
});

test('in a clone the error says how to build', (t) => {
  assert.deepStrictEqual(load(t, { manifest: { optionalDependencies: undefined } }), {
    code: 'MODULE_NOT_FOUND',
    message:
      `oxwire ${version} has no native addon for ${HERE}. ` +
      'In a clone, build it: npm run build. Packages from the registry bring one.',
  });
});

test("an addon that can't be loaded gives the reason of the system", (t) => {
  const { code, message, cause } = load(t, { addon: 'not an addon' });
  assert.strictEqual(code, 'ERR_DLOPEN_FAILED');
  assert.match(cause, new RegExp(ADDON));
  assert.strictEqual(
    message,
    `oxwire ${version} can't load its native addon for ${HERE}: ${cause}`,
  );
});

test('an addon of another version is refused', (t) => {
  const addon = fs.readFileSync(path.join(ROOT, ADDON));
  assert.deepStrictEqual(load(t, { addon, manifest: { version: '99.0.0' } }), {
    code: 'ERR_DLOPEN_FAILED',
    message:
      `oxwire 99.0.0 found a native addon of version ${version}. ` +
      'Delete node_modules and install again, or in a clone run: npm run build',
  });
});

test('NAPI_RS_NATIVE_LIBRARY_PATH names an addon that is somewhere else', (t) => {
  const named = (/** @type {string} */ file) => {
    return load(t, { env: { NAPI_RS_NATIVE_LIBRARY_PATH: file } });
  };
  assert.deepStrictEqual(named(path.join(ROOT, ADDON)), {});

  assert.deepStrictEqual(named('/no/such.node'), {
    code: 'MODULE_NOT_FOUND',
    message:
      `oxwire ${version} has no native addon for ${HERE} ` +
      '(NAPI_RS_NATIVE_LIBRARY_PATH is /no/such.node). ' +
      'The variable takes the absolute path of the file.',
  });

  const text = path.join(ROOT, 'LICENSE');
  const refused = named(text);
  assert.strictEqual(refused.code, 'ERR_DLOPEN_FAILED');
  assert.ok(refused.message.includes(`(NAPI_RS_NATIVE_LIBRARY_PATH is ${text}): `));

  const other = named(path.join(ROOT, 'lib/net/states.js'));
  assert.strictEqual(other.code, 'ERR_DLOPEN_FAILED');
  assert.match(other.message, /found a native addon of something else/);
});

test('where addons are forbidden, the error names the flag', { skip: !hasPermissions() }, (t) => {
  const permissions = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  );
  const flags = ['--no-warnings', permissions, '--allow-fs-read=*', '--allow-fs-write=*'];
  const addon = fs.readFileSync(path.join(ROOT, ADDON));
  const { code, message } = load(t, { addon, flags });
  assert.strictEqual(code, 'ERR_DLOPEN_FAILED');
  assert.match(message, /is disabled.* Start Node with --allow-addons\.$/);
});

/** Whether this Node can forbid addons, and allow them. */
function hasPermissions() {
  return process.allowedNodeEnvironmentFlags.has('--allow-addons');
}
