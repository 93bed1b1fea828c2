'use strict';

const fs = require('node:fs');

/** Where each format says what it is, and the processors as it calls them. */
const ELF = { magic: 0x464c457f, x64: 62, arm64: 183 };
const MACH_O = { magic: 0xfeedfacf, x64: 0x01000007, arm64: 0x0100000c };
const PE = { magic: 0x5a4d, x64: 0x8664, arm64: 0xaa64 };

/**
 * For which platform an addon is built, by the headers of ELF (System V ABI, chapter 4), Mach-O
 * (mach-o/loader.h) and PE (Microsoft's PE Format, "COFF File Header").
 *
 * @param {string} file
 * @returns {string | undefined} as the platform packages are called, `linux-x64-gnu` for one;
 *   undefined for anything else
 */
function platformOf(file) {
  const bytes = fs.readFileSync(file);
  if (bytes.length < 64) return undefined;
  if (bytes.readUInt32LE(0) === ELF.magic) {
    // The library that a glibc program asks for; musl's has another name.
    const libc = bytes.includes('\0libc.so.6\0') ? 'gnu' : 'musl';
    return name('linux', arch(ELF, bytes.readUInt16LE(18)), libc);
  }
  if (bytes.readUInt32LE(0) === MACH_O.magic) {
    return name('darwin', arch(MACH_O, bytes.readUInt32LE(4)));
  }
  if (bytes.readUInt16LE(0) === PE.magic) {
    const header = bytes.readUInt32LE(60);
    if (header + 6 > bytes.length || bytes.toString('latin1', header, header + 4) !== 'PE\0\0') {
      return undefined;
    }
    return name('win32', arch(PE, bytes.readUInt16LE(header + 4)), 'msvc');
  }
  return undefined;
}

/** @param {{ x64: number, arm64: number }} format @param {number} machine */
function arch({ x64, arm64 }, machine) {
  if (machine === x64) return 'x64';
  return machine === arm64 ? 'arm64' : undefined;
}

/** @param {(string | undefined)[]} parts */
function name(...parts) {
  return parts.includes(undefined) ? undefined : parts.join('-');
}

module.exports = { platformOf };
