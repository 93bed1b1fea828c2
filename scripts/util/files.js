'use strict';

const fs = require('node:fs');
const path = require('node:path');

/**
 * Lists the files under a folder.
 *
 * @param {string} folder
 * @returns {string[]} sorted paths relative to the folder, with forward slashes; none if the folder
 * does not exist
 */
function listFiles(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => fs.statSync(path.join(folder, file)).isFile())
    .map((file) => file.split(path.sep).join('/'))
    .sort();
}

/**
 * @param {string} file
 * @returns {any} the parsed file, or undefined if there is none
 */
function readJson(file) {
  if (!fs.existsSync(file)) return undefined;
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

module.exports = { listFiles, readJson };
