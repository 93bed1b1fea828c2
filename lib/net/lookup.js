'use strict';

const dns = require('dns');
const { isIP } = require('net');
const errors = require('../errors.js');

/**
 * The addresses of a host, in the order in which to try them. An address is its own, at once.
 *
 * @param {string} host
 * @param {{ lookup?: Function, family?: number, hints?: number }} options as node:net has them:
 *   another function than dns.lookup, and what it is told
 * @param {(error: Error | null, addresses: string[]) => void} callback
 */
function lookup(host, options, callback) {
  if (isIP(host) !== 0) {
    callback(null, [host]);
    return;
  }
  const { lookup: ask = dns.lookup, family = 0, hints } = options;
  let answered = false;
  const answer = (/** @type {Error | null | undefined} */ error, /** @type {unknown} */ found) => {
    if (answered) return;
    answered = true;
    if (error) callback(error, []);
    else callback(...check(host, found));
  };
  try {
    ask(host, hints === undefined ? { family, all: true } : { family, hints, all: true }, answer);
  } catch (error) {
    // After its answer nobody else would hear of it.
    if (answered) throw error;
    answer(/** @type {Error} */ (error), null);
  }
}

/**
 * What of an answer is to be tried, each address once.
 *
 * @param {string} host
 * @param {unknown} found an address, or a list of objects with one each
 * @returns {[Error | null, string[]]}
 */
function check(host, found) {
  const list = Array.isArray(found) ? found.map((entry) => entry?.address) : [found];
  if (list.length === 0 || found === undefined || found === null)
    return [errors.notFound(host), []];
  const valid = list.filter((address) => typeof address === 'string' && isIP(address) !== 0);
  // As in node:net what is no address is left out, unless there is nothing else.
  return valid.length > 0 ? [null, [...new Set(valid)]] : [errors.invalidAddress(list[0]), []];
}

module.exports = { lookup };
