'use strict';

const assert = require('assert');
const dns = require('dns');
const net = require('net');
const os = require('os');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { errnoOf } = require('../support/errno');
const {
  closed,
  freePort,
  listen,
  logEvents,
  read,
  readAll,
  turns,
  write,
} = require('../support/sockets');
const { unansweringPort } = require('../support/unanswering');

test('what is called before connect is done after it, in order', async (t) => {
  const server = await listen(t);
  const client = oxwire.connect(server.address().port);
  const log = logEvents(client);
  client.read(Buffer.alloc(8), (_error, _buffer, count) => log.push(`read ${count}`));
  client.write('a', () => log.push('a'));
  client.writev([Buffer.from('b'), Buffer.from('c')], () => log.push('bc'));
  client.write(Buffer.alloc(10_000, 'd'), () => log.push('d'));
  client.end(() => log.push('end callback'));
  assert.strictEqual(client.readable || client.writable, false);
  const [peer] = await once(server, 'connection');
  assert.strictEqual((await readAll(peer)).toString(), `abc${'d'.repeat(10_000)}`);
  peer.write('reply');
  await closed(client);
  assert.deepStrictEqual(
    log.filter((entry) => !entry.startsWith('read') && entry !== 'end'),
    ['connect', 'a', 'bc', 'd', 'finish', 'end callback', 'close'],
  );
});

test('small writes before connect leave together', async (t) => {
  const server = await listen(t);
  const before = oxwire.counters().send;
  const client = oxwire.connect(server.address().port);
  for (let i = 0; i < 64; i++) client.write(Buffer.alloc(64, i));
  const [peer] = await once(server, 'connection');
  assert.strictEqual((await readAll(peer, 4096)).length, 4096);
  assert.strictEqual(oxwire.counters().send - before, 1);
  client.close();
});

test('a refused connection tells what was queued, then error, then close', async () => {
  const port = await freePort();
  const client = oxwire.connect(port);
  const log = [];
  client.on('error', () => log.push('error'));
  client.read(Buffer.alloc(1), (error, _buffer, count) => log.push(`read ${error?.code} ${count}`));
  client.write('x', (error) => log.push(`write ${error?.code}`));
  client.read(Buffer.alloc(1), (error) => log.push(`read ${error?.code}`));
  client.writev([Buffer.alloc(9000)], (error) => log.push(`writev ${error?.code}`));
  client.end((error) => log.push(`end ${error?.code}`));
  client.on('close', () => log.push('close'));
  const [error] = await once(client, 'error');
  assert.strictEqual(error.message, `connect ECONNREFUSED 127.0.0.1:${port}`);
  const { code, errno, syscall, address } = error;
  assert.deepStrictEqual(
    { code, errno, syscall, address, port: error.port },
    {
      code: 'ECONNREFUSED',
      errno: errnoOf('ECONNREFUSED'),
      syscall: 'connect',
      address: '127.0.0.1',
      port,
    },
  );
  await turns();
  assert.deepStrictEqual(log, [
    'read ECONNREFUSED 0',
    'write ECONNREFUSED',
    'read ECONNREFUSED',
    'writev ECONNREFUSED',
    'end ECONNREFUSED',
    'error',
    'close',
  ]);
});

test('the error of a refused connection is that of node:net', async () => {
  const port = await freePort();
  const [ours] = await once(oxwire.connect(port, '127.0.0.1'), 'error');
  const [theirs] = await once(net.connect(port, '127.0.0.1'), 'error');
  assert.strictEqual(ours.message, theirs.message);
  assert.deepStrictEqual({ ...ours }, { ...theirs });
});

test('an attempt that fails at once is told in the same order', async () => {
  // The broadcast address has no route for TCP: connect() itself fails.
  const client = oxwire.connect(80, '255.255.255.255');
  const log = logEvents(client);
  client.write('x', (error) => log.push(`write ${error?.code}`));
  client.read(Buffer.alloc(1), (error) => log.push(`read ${error?.code}`));
  client.on('error', () => {});
  assert.deepStrictEqual(log, [], 'not within the call');
  await closed(client);
  const code = log[0].replace('write ', '');
  assert.match(code, /^E(NETUNREACH|ACCES|HOSTUNREACH|ADDRNOTAVAIL|INVAL)$/);
  assert.deepStrictEqual(log, [`write ${code}`, `read ${code}`, 'error', 'close']);
});

test('a refused connection leaves no descriptor behind', { skip: !onLinux() }, async () => {
  const port = await freePort();
  const attempt = async () => {
    const client = oxwire.connect(port);
    client.on('error', () => {});
    await closed(client);
  };
  await attempt();
  const before = descriptors();
  for (let i = 0; i < 50; i++) await attempt();
  assert.strictEqual(descriptors(), before);
});

test('a name that does not exist tells what was queued, then error, then close', async () => {
  const client = oxwire.connect(80, 'no-such-host.invalid');
  const log = [];
  client.write('x', (error) => log.push(`write ${error?.code}`));
  client.on('close', () => log.push('close'));
  client.on('error', (error) => {
    log.push('error');
    assert.strictEqual(error.syscall, 'getaddrinfo');
    assert.strictEqual(error.hostname, 'no-such-host.invalid');
  });
  await closed(client);
  assert.match(log.join(), /^write (ENOTFOUND|EAI_AGAIN),error,close$/);
});

test('a name is looked up, and its addresses are tried in turn', async (t) => {
  const server = await listen(t);
  const { port } = server.address();
  t.mock.method(dns, 'lookup', (_name, _options, callback) => {
    const addresses = ['::1', '127.0.0.1'].map((address) => ({
      address,
      family: net.isIP(address),
    }));
    process.nextTick(callback, null, addresses);
  });
  const client = oxwire.connect(port, 'two-addresses');
  await once(client, 'connect');
  assert.strictEqual(client.remoteAddress, '127.0.0.1');
  client.close();
});

test('when all addresses of a name fail the error has one for each', async (t) => {
  const port = await freePort();
  t.mock.method(dns, 'lookup', (_name, _options, callback) => {
    const addresses = ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }));
    process.nextTick(callback, null, addresses);
  });
  const [error] = await once(oxwire.connect(port, 'two-addresses'), 'error');
  assert.ok(error instanceof AggregateError);
  assert.strictEqual(/** @type {any} */ (error).code, 'ECONNREFUSED');
  assert.deepStrictEqual(
    error.errors.map(({ address, code }) => [address, code]),
    [
      ['127.0.0.2', 'ECONNREFUSED'],
      ['127.0.0.1', 'ECONNREFUSED'],
    ],
  );
});

test('a lookup without an address is an error', async (t) => {
  t.mock.method(dns, 'lookup', (_name, _options, callback) => process.nextTick(callback, null, []));
  const client = oxwire.connect(80, 'nowhere');
  const log = logEvents(client);
  client.write('x', (error) => log.push(`write ${error?.code}`));
  client.on('error', () => {});
  await closed(client);
  assert.deepStrictEqual(log, ['write ENOTFOUND', 'error', 'close']);
});

test('localhost connects', async (t) => {
  const server = await listen(t, null, 'localhost');
  const client = oxwire.connect(server.address().port, 'localhost');
  await once(client, 'connect');
  client.close();
});

test('IPv6 connects', { skip: !hasIPv6() }, async (t) => {
  const server = await listen(t, null, '::1');
  assert.deepStrictEqual(server.address(), {
    address: '::1',
    family: 'IPv6',
    port: server.address().port,
  });
  const client = oxwire.connect(server.address().port, '::1');
  const [peer] = await once(server, 'connection');
  await write(client, 'six');
  assert.strictEqual((await read(peer)).toString(), 'six');
  assert.strictEqual(client.remoteAddress, '::1');
  assert.strictEqual(client.remoteFamily, 'IPv6');
  assert.strictEqual(peer.remotePort, client.localPort);
  client.close();
  const refused = oxwire.connect(await freePort(), '::1');
  assert.strictEqual((await once(refused, 'error'))[0].address, '::1');
});

test('both ends know both addresses', async (t) => {
  const server = await listen(t);
  const client = oxwire.connect(String(server.address().port));
  assert.strictEqual(client.remoteAddress, undefined);
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  assert.strictEqual(client.remoteAddress, '127.0.0.1');
  assert.strictEqual(client.remoteFamily, 'IPv4');
  assert.strictEqual(client.remotePort, server.address().port);
  assert.strictEqual(client.localAddress, '127.0.0.1');
  assert.strictEqual(client.localFamily, 'IPv4');
  assert.strictEqual(peer.remotePort, client.localPort);
  assert.strictEqual(peer.localPort, client.remotePort);
  const { remotePort } = peer;
  peer.close();
  await closed(peer);
  assert.strictEqual(peer.remotePort, remotePort, 'what was asked for is kept');
  client.close();
});

test('close before connect gives the connection up', async (t) => {
  const server = await listen(t);
  const client = oxwire.connect(server.address().port);
  const log = logEvents(client);
  client.read(Buffer.alloc(1), (error) => log.push(`read ${error?.code}`));
  client.close(() => log.push('close callback'));
  await closed(client);
  assert.deepStrictEqual(log, [
    'read ERR_SOCKET_CLOSED_BEFORE_CONNECTION',
    'close callback',
    'close',
  ]);
});

test('close before connect waits for what was written', async (t) => {
  const server = await listen(t);
  const client = oxwire.connect(server.address().port);
  const log = logEvents(client);
  const over = closed(client);
  client.write('hello', (error) => log.push(`write ${error}`));
  client.close(() => log.push('close callback'));
  client.write('too late', (error) => log.push(`write ${error?.code}`));
  const [peer] = await once(server, 'connection');
  assert.strictEqual((await readAll(peer)).toString(), 'hello');
  await over;
  assert.deepStrictEqual(
    log.filter((entry) => entry !== 'write ERR_STREAM_DESTROYED'),
    ['connect', 'write null', 'close callback', 'close'],
  );
  assert.strictEqual(log.length, 5);
});

test('after a close nobody need listen for the error of connecting', async () => {
  const client = oxwire.connect(await freePort());
  const log = [];
  client.write('x', (error) => log.push(`write ${error?.code}`));
  client.close(() => log.push('close callback'));
  await closed(client);
  assert.deepStrictEqual(log, ['write ECONNREFUSED', 'close callback']);
});

test('destroy before connect gives everything up', async (t) => {
  const server = await listen(t);
  for (const host of ['127.0.0.1', 'localhost', 'no-such-host.invalid']) {
    const client = oxwire.connect(server.address().port, host);
    const log = logEvents(client);
    client.write('never', (error) => log.push(`write ${error?.code}`));
    assert.strictEqual(client.destroy(), client);
    await closed(client);
    await turns();
    assert.deepStrictEqual(log, ['write ERR_SOCKET_CLOSED_BEFORE_CONNECTION', 'close']);
  }
});

test('a Connection that was never connected closes', async () => {
  const connection = new oxwire.Connection();
  connection.read(Buffer.alloc(1), () => {});
  connection.close();
  await closed(connection);
});

test('noDelay is on unless it is switched off', async (t) => {
  // What the native half makes of it, a test in Rust says.
  const server = await listen(t);
  const native = require('../../lib/net/reactor').open();
  const seen = [];
  t.mock.method(native, 'connect', (_address, _port, noDelay) => {
    seen.push(noDelay);
    return errnoOf('ECONNREFUSED');
  });
  for (const noDelay of [undefined, null, true, 1, false, 0]) {
    oxwire.connect(server.address().port, { noDelay: /** @type {any} */ (noDelay) }).destroy();
  }
  assert.deepStrictEqual(seen, [true, true, true, true, false, false]);
});

/**
 * The error of a connection that fails, without what is common to all errors.
 *
 * @param {any} library
 * @param {object} options
 */
async function failure(library, options) {
  const [error] = await once(library.connect(options), 'error');
  return [error.message, { ...error }];
}

test('a connection comes from the address and port that were asked for', async (t) => {
  const server = await listen(t);
  const { port } = server.address();
  const localPort = await freePort();
  const client = oxwire.connect({ port, localAddress: '127.0.0.1', localPort });
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  assert.deepStrictEqual([peer.remoteAddress, peer.remotePort], ['127.0.0.1', localPort]);
  assert.strictEqual(client.localPort, localPort);
  client.destroy();
});

test('a local port alone is one of whichever address fits', async (t) => {
  for (const address of hasIPv6() ? ['127.0.0.1', '::1'] : ['127.0.0.1']) {
    const server = await listen(t, null, address);
    const localPort = await freePort();
    const client = oxwire.connect({ port: server.address().port, host: address, localPort });
    await once(client, 'connect');
    assert.deepStrictEqual([client.localAddress, client.localPort], [address, localPort]);
    client.destroy();
  }
});

test('a local address alone gets any port', { skip: !onLinux() }, async (t) => {
  // Elsewhere the loopback has one address.
  const server = await listen(t);
  const client = oxwire.connect({ port: server.address().port, localAddress: '127.0.0.2' });
  await once(client, 'connect');
  assert.strictEqual(client.localAddress, '127.0.0.2');
  assert.ok(client.localPort > 0);
  client.destroy();
});

test('what can not be had at this end is the error of node:net, for bind', async (t) => {
  const { port } = (await listen(t)).address();
  const cases = {
    'a port in use': { localAddress: '127.0.0.1', localPort: port },
    'a port in use, alone': { localPort: port },
    'an address of another machine': { localAddress: '192.0.2.1' },
    'an address and port of another machine': { localAddress: '192.0.2.1', localPort: 9 },
    'an IPv6 address for an IPv4 one': { localAddress: '::1' },
    'an IPv6 address and port for an IPv4 one': { localAddress: '::1', localPort: 9 },
    'an IPv4 address for an IPv6 one': { host: '::1', localAddress: '127.0.0.1' },
  };
  for (const [what, options] of Object.entries(cases)) {
    const all = { port, host: '127.0.0.1', ...options };
    const ours = await failure(oxwire, all);
    assert.deepStrictEqual(ours, await failure(net, all), what);
    assert.strictEqual(ours[1].syscall, 'bind');
  }
});

test('a refused connection says where it came from, as in node:net', async () => {
  const port = await freePort();
  const localPort = await freePort();
  for (const options of [
    { localAddress: '127.0.0.1', localPort },
    { localPort },
    { localAddress: '127.0.0.1' },
  ]) {
    const all = { port, host: '127.0.0.1', ...options };
    assert.deepStrictEqual(await failure(oxwire, all), await failure(net, all));
  }
});

test('an address that this end does not fit is one that failed', async (t) => {
  const server = await listen(t);
  const lookup = (_host, _options, callback) =>
    process.nextTick(callback, null, [{ address: '::1' }, { address: '127.0.0.1' }]);
  const { port } = server.address();
  const client = oxwire.connect({ port, host: 'both', localAddress: '127.0.0.1', lookup });
  await once(client, 'connect');
  assert.strictEqual(client.remoteAddress, '127.0.0.1');
  client.destroy();
});

test('an address that does not answer is left for the next', { skip: !onLinux() }, async (t) => {
  const port = await unansweringPort(t);
  const other = oxwire.createServer().listen(port, '127.0.0.2');
  t.after(() => other.close());
  await once(other, 'listening');
  const lookup = (_host, _options, callback) =>
    process.nextTick(callback, null, [{ address: '127.0.0.1' }, { address: '127.0.0.2' }]);
  const client = oxwire.connect({ port, host: 'both', lookup });
  await once(client, 'connect');
  assert.strictEqual(client.remoteAddress, '127.0.0.2');
  client.destroy();
});

test('each address that failed has its own error', { skip: !onLinux() }, async (t) => {
  const port = await unansweringPort(t);
  const lookup = (_host, _options, callback) =>
    process.nextTick(callback, null, [{ address: '127.0.0.1' }, { address: '127.0.0.2' }]);
  const [error] = await once(oxwire.connect({ port, host: 'both', lookup }), 'error');
  assert.deepStrictEqual(
    error.errors.map(({ code, syscall, address }) => [code, syscall, address]),
    [
      ['ETIMEDOUT', 'connect', '127.0.0.1'],
      ['ECONNREFUSED', 'connect', '127.0.0.2'],
    ],
  );
});

test('wrong arguments are thrown', () => {
  const connect = /** @type {any} */ (oxwire.connect);
  for (const port of [-1, 65536, 83616, 1.5, NaN, '', 'http', '1x', undefined, null, 2 ** 40]) {
    assert.throws(() => connect(port), { name: 'RangeError', code: 'ERR_SOCKET_BAD_PORT' });
  }
  assert.throws(() => connect({ host: 'h' }), { code: 'ERR_SOCKET_BAD_PORT' });
  assert.throws(() => connect(80, () => {}, {}), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => connect(80, 5), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => connect(80, '127.0.0.1', 'options'), { code: 'ERR_INVALID_ARG_TYPE' });
});

function onLinux() {
  return process.platform === 'linux';
}

function descriptors() {
  return require('fs').readdirSync('/proc/self/fd').length;
}

function hasIPv6() {
  const all = Object.values(os.networkInterfaces()).flat();
  return all.some((found) => found?.address === '::1');
}
