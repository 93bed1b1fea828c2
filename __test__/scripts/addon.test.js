'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { test } = require('node:test');
const { temporaryFolder } = require('../support/folders');
const { platformOf } = require('../../scripts/util/addon');

const ROOT = path.join(__dirname, '../..');

/** @param {import('node:test').TestContext} t @param {Uint8Array} bytes */
function platformOfBytes(t, bytes) {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'addon.node');
  fs.writeFileSync(file, bytes);
  return platformOf(file);
}

/** @param {[number, string][]} parts hexadecimal bytes, and where they stand */
function header(...parts) {
  const bytes = Buffer.alloc(256);
  for (const [offset, hex] of parts) Buffer.from(hex, 'hex').copy(bytes, offset);
  return bytes;
}

test('the addon that is built here is for the platform of its name', () => {
  const addons = fs.readdirSync(ROOT).filter((file) => /^oxwire\..*\.node$/.test(file));
  assert.ok(addons.length > 0);
  for (const file of addons) {
    assert.strictEqual(`oxwire.${platformOf(path.join(ROOT, file))}.node`, file);
  }
});

test('each format and processor is told', (t) => {
  /** @type {[number, string]} */
  const glibc = [100, Buffer.from('\0libc.so.6\0').toString('hex')];
  /** @type {[number, string]} */
  const musl = [100, Buffer.from('\0libc.so\0').toString('hex')];
  /** @type {[number, string]} */
  const pe = [60, '80000000'];
  const cases = {
    'linux-x64-gnu': header([0, '7f454c46'], [18, '3e00'], glibc),
    'linux-arm64-musl': header([0, '7f454c46'], [18, 'b700'], musl),
    'darwin-x64': header([0, 'cffaedfe07000001']),
    'darwin-arm64': header([0, 'cffaedfe0c000001']),
    'win32-x64-msvc': header([0, '4d5a'], pe, [128, '504500006486']),
    'win32-arm64-msvc': header([0, '4d5a'], pe, [128, '5045000064aa']),
  };
  for (const [platform, bytes] of Object.entries(cases)) {
    assert.strictEqual(platformOfBytes(t, bytes), platform);
  }
});

test('anything else is for no platform', (t) => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('hello'),
    header([0, '7f454c46'], [18, '0300']),
    header([0, 'cffaedfe12000001']),
    header([0, '4d5a'], [60, 'ffffffff']),
    header([0, '4d5a'], [60, '80000000'], [128, '4e4500006486']),
    header([0, 'cafebabe']),
  ]) {
    assert.strictEqual(platformOfBytes(t, bytes), undefined);
  }
});
