'use strict';

const assert = require('assert');
const { inspect } = require('util');
const { test } = require('node:test');
const oxwire = require('../..');
const { closed, pair, readAll } = require('../support/sockets');

test('end writes what it is given before it ends', async (t) => {
  for (const [given, sent] of /** @type {[any[], string][]} */ ([
    [['bye'], 'bye'],
    [['ÿ', 'latin1'], '\xff'],
    [[Buffer.from('bytes')], 'bytes'],
    [[''], ''],
    [[null], ''],
  ])) {
    const { client, peer } = await pair(t);
    const told = new Promise((resolve) => client.end(...given, resolve));
    assert.strictEqual((await readAll(peer)).toString('latin1'), sent);
    assert.strictEqual(await told, null);
    const other = await pair(t);
    other.client.end(...given);
    assert.strictEqual((await readAll(other.peer)).toString('latin1'), sent);
  }
});

test('an end with something wrong is thrown, and nothing is written or ended', async (t) => {
  const { client, peer } = await pair(t);
  const end = /** @type {any} */ (client.end.bind(client));
  assert.throws(() => end('bye', 'utf8', 'no function'), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => end('bye', 'no-such-encoding'), { code: 'ERR_UNKNOWN_ENCODING' });
  assert.throws(() => end(5), { code: 'ERR_INVALID_ARG_TYPE' });
  client.end('all of it');
  assert.strictEqual(String(await readAll(peer)), 'all of it');
});

test('what is printed of a connection and a server is short, and says where they are', async (t) => {
  const { server, client } = await pair(t);
  const { port } = server.address();
  assert.match(inspect(client), new RegExp(`^Connection \\{[^]*'open'[^]*127.0.0.1 port ${port}`));
  assert.match(inspect(server), new RegExp(`^Server \\{[^]*${port}[^]*connections: 1`));
  assert.ok(inspect(client).length < 400);
  const close = closed(client);
  client.destroy();
  await close;
  assert.match(inspect(client), /'closed'/);
  assert.match(inspect([new oxwire.Connection()]), /^\[\s+Connection \{[^]*'connecting'/);
});
