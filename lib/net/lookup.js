'use strict';

const dns = require('dns');
const { isIP } = require('net');

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
    if (error) callback(error, []);
    else
      callback(
        null,
        found.map(({ address }) => address),
      );
  });
}

module.exports = { lookup };
