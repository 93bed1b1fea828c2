'use strict';

// The lookup of a name, and what other functions than dns.lookup may make of it.

const assert = require('assert');
const dns = require('dns');
const net = require('net');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { closed, freePort, listen, turns } = require('../support/sockets');

const any = /** @type {any} */ (oxwire);
const theirs = /** @type {any} */ (net);

/** A list of addresses, as dns.lookup answers. @param {unknown[]} addresses */
function list(...addresses) {
  return addresses.map((address) => ({ address, family: 4 }));
}

/**
 * A lookup with an answer.
 *
 * @param {any[]} answer
 */
function answering(...answer) {
  return (_host, _options, callback) => setImmediate(callback, ...answer);
}

/**
 * What becomes of a connection whose lookup is `lookup`.
 *
 * @param {any} library
 * @param {number} port
 * @param {Function} lookup
 */
async function outcome(library, port, lookup) {
  const log = [];
  const socket = library.connect({ port, host: 'a.name', lookup });
  socket.on('connect', () => {
    log.push('connect');
    socket.destroy();
  });
  socket.on('error', ({ code, message }) => log.push(`${code} ${message}`));
  await closed(socket);
  return log;
}

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

test('what a lookup answers is taken as by node:net', async (t) => {
  const { port } = (await listen(t)).address();
  const error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  const answers = {
    'a list': answering(null, list('127.0.0.1')),
    'a list at once': (_host, _options, callback) => callback(null, list('127.0.0.1')),
    'an error': answering(error),
    'an error at once': (_host, _options, callback) => callback(error),
    'an error and an address': answering(error, list('127.0.0.1')),
    'what is no address': answering(null, list('localhost')),
    'no text': answering(null, list(undefined)),
    'a list of texts': answering(null, ['127.0.0.1']),
    'an address among others': answering(null, list('localhost', undefined, '127.0.0.1')),
  };
  for (const [name, lookup] of Object.entries(answers)) {
    const ours = await outcome(any, port, lookup);
    assert.deepStrictEqual(ours, await outcome(theirs, port, lookup), name);
  }
});

test('an address that comes twice is tried once, as by node:net', async () => {
  const port = await freePort();
  const lookup = answering(null, list('127.0.0.1', '127.0.0.1'));
  const refusal = `ECONNREFUSED connect ECONNREFUSED 127.0.0.1:${port}`;
  assert.deepStrictEqual(await outcome(any, port, lookup), [refusal]);
  assert.deepStrictEqual(await outcome(theirs, port, lookup), [refusal]);
});

test('a lookup may answer with one address, though it was asked for all', async (t) => {
  const { port } = (await listen(t)).address();
  assert.deepStrictEqual(await outcome(any, port, answering(null, '127.0.0.1', 4)), ['connect']);
  // Other libraries name the family, or leave it out.
  const named = [{ address: '127.0.0.1', family: 'IPv4' }];
  assert.deepStrictEqual(await outcome(any, port, answering(null, named)), ['connect']);
  assert.deepStrictEqual(await outcome(any, port, answering(null, '127.0.0.1')), ['connect']);
});

test('an answer without an address is an error, and no exception', async () => {
  // By some of these node:net ends the process.
  const answers = { undefined: [], null: [null], 'an empty list': [[]] };
  for (const [name, answer] of Object.entries(answers)) {
    const log = await outcome(any, 1, answering(null, ...answer));
    assert.deepStrictEqual(log, ['ENOTFOUND getaddrinfo ENOTFOUND a.name'], name);
  }
  for (const answer of ['', 'a.name', 5, true, {}, [null], [{}], list(5), list(['127.0.0.1'])]) {
    const [line, ...more] = await outcome(any, 1, answering(null, answer));
    assert.match(line, /^ERR_INVALID_IP_ADDRESS Invalid IP address: /);
    assert.deepStrictEqual(more, []);
  }
});

test('a lookup that answers twice is heard once', async (t) => {
  const server = await listen(t);
  const seen = [];
  server.on('connection', () => seen.push('connection'));
  const log = await outcome(any, server.address().port, (_host, _options, callback) => {
    setImmediate(() => {
      callback(null, list('127.0.0.1'));
      callback(null, list('127.0.0.1'));
      callback(new Error('late'));
    });
  });
  assert.deepStrictEqual(log, ['connect']);
  await turns();
  assert.deepStrictEqual(seen, ['connection']);
});

test('a lookup that throws has failed', async () => {
  // It is an event as if it had answered with the error; node:net's connect() throws it.
  const error = new Error('not today');
  const lookup = () => {
    throw error;
  };
  assert.throws(() => theirs.connect({ port: 1, host: 'a.name', lookup }), error);
  const client = oxwire.connect({ port: 1, host: 'a.name', lookup });
  const log = [];
  client.write('x', (reason) => log.push(['write', reason]));
  client.on('error', (reason) => log.push(['error', reason]));
  assert.deepStrictEqual(log, []);
  await closed(client);
  assert.deepStrictEqual(log, [
    ['write', error],
    ['error', error],
  ]);
});

test('what a lookup throws after its answer is thrown, as by node:net', async (t) => {
  const server = await listen(t);
  const error = new Error('late');
  const lookup = (_host, _options, callback) => {
    callback(null, list('127.0.0.1'));
    throw error;
  };
  const { port } = server.address();
  assert.throws(() => theirs.connect({ port, host: 'a.name', lookup }), error);
  assert.throws(() => oxwire.connect({ port, host: 'a.name', lookup }), error);
  // Both had begun to connect before.
  await once(server, 'connection');
  if (server.connections.length < 2) await once(server, 'connection');
});

test('an answer that comes after the end of the connection is ignored', async (t) => {
  const server = await listen(t);
  server.on('connection', () => assert.fail('nobody wants it any more'));
  /** @type {any} */
  let answer;
  const lookup = (_host, _options, callback) => {
    answer = callback;
  };
  const client = oxwire.connect({ port: server.address().port, host: 'a.name', lookup });
  client.on('error', assert.fail);
  client.destroy();
  answer(null, list('127.0.0.1'));
  await closed(client);
  answer(new Error('late'));
  await turns();
});

test('an address is not looked up, whichever family was asked for, as by node:net', async (t) => {
  const { port } = (await listen(t)).address();
  for (const library of [any, theirs]) {
    const options = { port, host: '127.0.0.1', family: 6, lookup: assert.fail };
    const socket = library.connect(options);
    await once(socket, 'connect');
    assert.strictEqual(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
  }
});

test('a name is looked up in the family that was asked for', async (t) => {
  const { port } = (await listen(t)).address();
  for (const family of [4, 'IPv4']) {
    const client = any.connect({ port, host: 'localhost', family });
    await once(client, 'connect');
    assert.strictEqual(client.remoteAddress, '127.0.0.1');
    client.destroy();
  }
});
