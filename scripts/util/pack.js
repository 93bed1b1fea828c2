'use strict';

const { run } = require('./command');

/**
 * What `npm publish` would send of a folder.
 *
 * @param {string} folder absolute
 * @returns {{ name: string, files: string[], size: number, unpackedSize: number, integrity: string }}
 *   sizes in bytes; `integrity` is what the registry keeps as `dist.integrity`
 */
function pack(folder) {
  const command = ['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'];
  const [{ files, ...others }] = JSON.parse(run(command, { cwd: folder }));
  return { ...others, files: files.map((/** @type {{ path: string }} */ file) => file.path) };
}

module.exports = { pack };
