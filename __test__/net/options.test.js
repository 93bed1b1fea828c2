'use strict';

// The arguments of connect(), listen() and createServer(). What node:net does with the same ones is
// asked of node:net itself.

const assert = require('assert');
const net = require('net');
const { test } = require('node:test');
const oxwire = require('../..');

const any = /** @type {any} */ (oxwire);
const theirs = /** @type {any} */ (net);

/** What is thrown, as it says it. @param {() => unknown} call */
function thrown(call) {
  try {
    call();
  } catch (error) {
    return `${error.name} ${error.code} ${error.message}`;
  }
  return assert.fail('nothing was thrown');
}

test('what is wrong with an argument is said in the words of node:net', () => {
  const calls = {
    port: (library) => library.connect(70_000),
    'port in digits': (library) => library.connect('70000'),
    'port of options': (library) => library.connect({ port: -1 }),
    'port to listen on': (library) => library.createServer().listen(65_536),
    localAddress: (library) => library.connect({ port: 1, localAddress: 'here' }),
    keepAliveInitialDelay: (library) => library.connect({ port: 1, keepAliveInitialDelay: '5' }),
    'keepAliveInitialDelay of a server': (library) =>
      library.createServer({ keepAliveInitialDelay: null }),
    lookup: (library) => library.connect({ port: 1, host: 'name', lookup: 'dns' }),
    family: (library) => library.connect({ port: 1, host: 'name', family: 5 }),
    'signal to listen': (library) => library.createServer().listen({ port: 0, signal: {} }),
  };
  for (const [name, call] of Object.entries(calls)) {
    assert.strictEqual(
      thrown(() => call(any)),
      thrown(() => call(theirs)),
      name,
    );
  }
});
