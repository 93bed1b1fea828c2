'use strict';

const dns = require('dns');
const { isIP } = require('net');
const errors = require('../errors.js');

/**
 * The addresses of a host, in the order in which to try them. An address is its own, at once.
 *
 * @param {string} host
 * @param {(error: Error | null, addresses: string[]) => void} callback
 */
function lookup(host, callback) {
  if (isIP(host) !== 0) {
    callback(null, [host]);
    return;
  }
  dns.lookup(host, { all: true }, (error, found) => {
    const addresses = error ? [] : found.map(({ address }) => address);
    callback(error ?? (addresses.length === 0 ? errors.notFound(host) : null), addresses);
  });
}

module.exports = { lookup };
