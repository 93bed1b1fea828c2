'use strict';

const path = require('node:path');

/** The repository's root folder. Every other path in `scripts/` starts from it. */
const root = path.resolve(__dirname, '../..');

/**
 * @param {...string} parts
 * @returns {string} an absolute path in the repository
 */
const inRoot = (...parts) => path.join(root, ...parts);

/** The program of @napi-rs/cli, which `node` runs. */
const napiCli = inRoot('node_modules/@napi-rs/cli/dist/cli.js');

module.exports = { root, inRoot, napiCli };
