'use strict';

// The lookup of a name, and what other functions than dns.lookup may make of it.

const assert = require('assert');
const dns = require('dns');
const net = require('net');
const { test } = require('node:test');
const oxwire = require('../..');

const any = /** @type {any} */ (oxwire);
const theirs = /** @type {any} */ (net);

/**
 * What a lookup is asked by connect().
 *
 * @param {any} library
 * @param {object} options
 */
function asked(library, options) {
  let question;
  const lookup = (host, /** @type {any} */ { family = 0, hints }) => {
    // A name of a family is given on as it is.
    question = { host, family: family === 'IPv6' ? 6 : family, hints };
  };
  library.connect({ port: 1, host: 'a.name', lookup, ...options }).destroy();
  return question;
}

test('a lookup is asked what node:net asks', () => {
  for (const options of [
    {},
    { family: 0 },
    { family: 4 },
    { family: 6 },
    { family: 'IPv6' },
    { hints: 0 },
    { hints: null },
    { hints: dns.V4MAPPED },
    { family: 6, hints: dns.V4MAPPED | dns.ALL },
    { family: 4, hints: 1 << 20 },
    { localAddress: '127.0.0.1' },
  ]) {
    assert.deepStrictEqual(asked(any, options), asked(theirs, options), JSON.stringify(options));
  }
});

test('a lookup is asked for all addresses', () => {
  let all;
  const lookup = (_host, options) => {
    ({ all } = options);
  };
  oxwire.connect({ port: 1, host: 'a.name', family: 4, lookup }).destroy();
  assert.strictEqual(all, true);
});
