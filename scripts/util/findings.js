'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { capture } = require('./command');
const { listFiles } = require('./files');

/** How the sanitizer is to write a frame of a stack, and what it writes. */
const FRAME_FORMAT = '    #%n (%m+%o)';
const FRAME = /^( +#\d+) \((.*)\+(0x[0-9a-f]+)\)$/gm;

/**
 * What the address sanitizer has reported that is about the addon.
 *
 * @param {string} folder with a file for each process that has something to report; those that
 *   count stay, with names for the addresses in them
 * @param {string} addon
 * @param {string} runtime the library of the sanitizer
 * @returns {string[]}
 */
function findings(folder, addon, runtime) {
  const found = [];
  for (const name of listFiles(folder)) {
    const file = path.join(folder, name);
    const text = ofAddon(fs.readFileSync(file, 'utf8'), addon, runtime);
    if (text === '') fs.rmSync(file);
    else found.push({ file, text });
  }
  const names = namesOf(found.map(({ text }) => text));
  return found.map(({ file, text }) => {
    const named = text.replace(FRAME, (frame, number, module, address) => {
      const place = names.get(`${module}+${address}`);
      return place ? `${number} ${place} (${path.basename(module)})` : frame;
    });
    fs.writeFileSync(file, named);
    return named;
  });
}

/**
 * Leaves out what others than the addon have allocated and leaked: a Node that ends by
 * `process.exit` or an uncaught exception frees nothing, and the sanitizer can't see what V8's heap
 * refers to. Indirect leaks count: an environment and its handles refer to each other.
 *
 * @param {string} text
 * @param {string} addon
 * @param {string} runtime
 */
function ofAddon(text, addon, runtime) {
  const isOfLeaks = text.includes('ERROR: LeakSanitizer: ');
  if (!isOfLeaks || text.includes('ERROR: AddressSanitizer: ')) return text;
  return text
    .split('\n\n')
    .filter((block) => {
      const modules = [...block.matchAll(FRAME)].map(([, , module]) => module);
      return modules.find((module) => module !== runtime) === addon;
    })
    .join('\n\n');
}

/**
 * @param {string[]} texts
 * @returns {Map<string, string>} the function and the line of each frame
 */
function namesOf(texts) {
  /** @type {Map<string, Set<string>>} */
  const addresses = new Map();
  for (const [, , module, address] of texts.join('\n').matchAll(FRAME)) {
    if (!fs.existsSync(module)) continue; // code that V8 has made
    addresses.set(module, (addresses.get(module) ?? new Set()).add(address));
  }
  const names = new Map();
  for (const [module, set] of addresses) {
    const command = ['addr2line', '--functions', '--demangle', '--pretty-print', '-e', module];
    const { stdout } = capture([...command, ...set]);
    const lines = stdout.split('\n');
    [...set].forEach((address, index) => names.set(`${module}+${address}`, lines[index]));
  }
  return names;
}

module.exports = { FRAME_FORMAT, findings };
