'use strict';

// The arguments of connect(), listen() and createServer(). What node:net does with the same ones is
// asked of node:net itself.

const assert = require('assert');
const dns = require('dns');
const net = require('net');
const { test } = require('node:test');
const oxwire = require('../..');
const options = require('../../lib/net/options');

const any = /** @type {any} */ (oxwire);
const theirs = /** @type {any} */ (net);

/**
 * How it went to connect: `taken`, or the class and code of what was thrown.
 *
 * @param {any} library
 * @param {any[]} values
 */
function connectWith(library, values) {
  try {
    library
      .connect(...values)
      .on('error', () => {})
      .destroy();
    return 'taken';
  } catch (error) {
    return `${error.name} ${error.code}`;
  }
}

/**
 * How it went to listen, likewise.
 *
 * @param {any} library
 * @param {any[]} values
 */
function listenWith(library, values) {
  const server = library.createServer();
  try {
    server.listen(...values).close();
    return 'taken';
  } catch (error) {
    return `${error.name} ${error.code}`;
  }
}

/** What is thrown, as it says it. @param {() => unknown} call */
function thrown(call) {
  try {
    call();
  } catch (error) {
    return `${error.name} ${error.code} ${error.message}`;
  }
  return assert.fail('nothing was thrown');
}

test('connect takes its arguments in any of its forms', () => {
  const listener = () => {};
  const forms = [
    [8080, 'a.name', { noDelay: false }, listener],
    ['8080', 'a.name', { noDelay: false }, listener],
    [8080, { host: 'a.name', noDelay: false }, listener],
    [{ port: 8080, host: 'a.name', noDelay: false }, listener],
    [{ port: '8080', host: 'a.name', noDelay: 0 }, listener],
    // What turbo-net's callers leave empty.
    [8080, 'a.name', { noDelay: false }, listener, undefined, null],
    // The arguments before the options say more.
    [8080, 'a.name', { port: 1, host: 'other', noDelay: false }, listener],
    [8080, { port: 1, host: 'a.name', noDelay: false }, listener],
  ];
  const [expected, ...others] = forms.map(options.connectArguments);
  for (const [i, other] of others.entries()) assert.deepStrictEqual(other, expected, `form ${i}`);
  const { port, host, noDelay } = expected.settings;
  assert.deepStrictEqual([port, host, noDelay], [8080, 'a.name', false]);
  assert.strictEqual(expected.listener, listener);
});

test('what is left out of the arguments of connect has a default', () => {
  const expected = {
    allowHalfOpen: false,
    noDelay: true,
    keepAlive: -1,
    port: 80,
    host: '127.0.0.1',
    lookup: undefined,
    family: 0,
    hints: process.platform === 'win32' ? 0 : dns.ADDRCONFIG,
    localAddress: undefined,
    localPort: 0,
    signal: undefined,
    timeout: 0,
  };
  const nothing = Object.fromEntries(
    ['host', 'lookup', 'family', 'hints', 'localAddress', 'localPort', 'signal', 'timeout'].map(
      (name) => [name, null],
    ),
  );
  for (const values of [
    [80],
    [80, null],
    [80, undefined, null, null],
    [80, ''],
    [80, {}],
    [{ port: 80 }],
    [{ port: 80, ...nothing }],
    [{ port: 80, noDelay: null, keepAlive: null, allowHalfOpen: null }],
  ]) {
    const { settings, listener } = options.connectArguments(values);
    assert.deepStrictEqual(settings, expected, JSON.stringify(values));
    assert.strictEqual(listener, null);
  }
});

test('listen takes its arguments in any of its forms', () => {
  const listener = () => {};
  const forms = [
    [8080, '::1', 5, listener],
    ['8080', '::1', 5, listener],
    [8080, '::1', 5, listener, undefined],
    [{ port: 8080, host: '::1', backlog: 5 }, listener],
    [{ port: '8080', host: '::1', backlog: 5 }, listener, null],
  ];
  const [expected, ...others] = forms.map(options.listenArguments);
  for (const [i, other] of others.entries()) assert.deepStrictEqual(other, expected, `form ${i}`);
  const { port, host, backlog } = expected.settings;
  assert.deepStrictEqual([port, host, backlog], [8080, '::1', 5]);
  assert.strictEqual(expected.listener, listener);

  // As in node:net a number behind the port is the backlog.
  const { settings } = options.listenArguments([8080, 5, listener]);
  assert.deepStrictEqual([settings.host, settings.backlog], ['0.0.0.0', 5]);
});

test('what is left out of the arguments of listen has a default', () => {
  const expected = {
    port: 0,
    host: '0.0.0.0',
    backlog: 511,
    ipv6Only: false,
    reusePort: false,
    exclusive: false,
    signal: undefined,
  };
  const listener = () => {};
  for (const values of [
    [],
    [null, null, null, null],
    [0, ''],
    [{ port: undefined }],
    [{ port: null, host: null, backlog: null }],
    [{ port: 0, backlog: 0 }],
  ]) {
    assert.deepStrictEqual(options.listenArguments(values), { settings: expected, listener: null });
    assert.deepStrictEqual(options.listenArguments([...values, listener]).listener, listener);
  }
});

test('a server and a connection take the same options of a socket', () => {
  const given = { allowHalfOpen: 1, noDelay: '', keepAlive: 'yes', keepAliveInitialDelay: 2500 };
  const expected = { allowHalfOpen: true, noDelay: false, keepAlive: 2 };
  assert.deepStrictEqual(options.socketSettings(given), expected);
  const { settings } = options.connectArguments([{ port: 1, ...given }]);
  assert.deepStrictEqual({ ...settings, ...expected }, settings);
  for (const none of [undefined, null, {}]) {
    const defaults = { allowHalfOpen: false, noDelay: true, keepAlive: -1 };
    assert.deepStrictEqual(options.socketSettings(none), defaults);
  }
});

test('the objects with the options are not changed', () => {
  const given = Object.freeze({ port: 0, host: '127.0.0.1' });
  options.connectArguments([1, given]);
  options.connectArguments([given]);
  options.listenArguments([given]);
  assert.deepStrictEqual(given, { port: 0, host: '127.0.0.1' });
});

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

test('an option of connect is taken or refused as node:net does', () => {
  // A name whose lookup never ends; what is taken is given up at once.
  const name = { host: 'name', lookup() {} };
  const calls = {
    'a port in digits': [{ port: '80', ...name }],
    'a port past the last': [{ port: 65_536, ...name }],
    'a port with a fraction': [{ port: 80.5, ...name }],
    'no number': [{ port: NaN, ...name }],
    'a host that is no text': [{ port: 1, host: 5 }],
    'no host': [{ port: 1, host: null }],
    'an empty host': [{ port: 1, host: '' }],
    'no lookup': [{ port: 1, host: 'localhost', lookup: null }],
    'a lookup that is none': [{ port: 1, host: 'name', lookup: 'dns' }],
    'no family': [{ port: 1, host: 'localhost', family: null }],
    'a family by its name': [{ port: 1, host: 'localhost', family: 'IPv4' }],
    'a family in digits': [{ port: 1, host: 'localhost', family: '4' }],
    'a family that there is not': [{ port: 1, host: 'localhost', family: 5 }],
    'no hints': [{ port: 1, host: 'localhost', hints: null }],
    'hints of dns': [{ port: 1, host: 'localhost', hints: dns.ADDRCONFIG | dns.V4MAPPED }],
    'hints that are none': [{ port: 1, host: 'localhost', hints: 'all' }],
    'hints that there are not': [{ port: 1, host: 'localhost', hints: 1 << 20 }],
    'hints of another lookup': [{ port: 1, ...name, hints: 1 << 20 }],
    'no localAddress': [{ port: 1, ...name, localAddress: '' }],
    'a localAddress that is none': [{ port: 1, ...name, localAddress: 'localhost' }],
    'a localAddress that is no text': [{ port: 1, ...name, localAddress: 5 }],
    'no localPort': [{ port: 1, ...name, localPort: null }],
    'no signal': [{ port: 1, ...name, signal: null }],
    'a signal that is none': [{ port: 1, ...name, signal: 'SIGTERM' }],
    'an object that is no signal': [{ port: 1, ...name, signal: {} }],
    'no timeout': [{ port: 1, ...name, timeout: null }],
    'a timeout in digits': [{ port: 1, ...name, timeout: '1' }],
    'a timeout below 0': [{ port: 1, ...name, timeout: -1 }],
    'a timeout without end': [{ port: 1, ...name, timeout: Infinity }],
    'no keepAliveInitialDelay': [{ port: 1, ...name, keepAliveInitialDelay: undefined }],
    'a keepAliveInitialDelay that is none': [{ port: 1, ...name, keepAliveInitialDelay: null }],
    'a keepAliveInitialDelay below 0': [{ port: 1, ...name, keepAliveInitialDelay: -1 }],
    'flags that are no booleans': [
      { port: 1, ...name, allowHalfOpen: 1, keepAlive: 'yes', noDelay: 0 },
    ],
    'a listener that is none': [{ port: 1, ...name }, 'listener'],
  };
  for (const [what, values] of Object.entries(calls)) {
    assert.strictEqual(connectWith(any, values), connectWith(theirs, values), what);
  }
});

test('what listen gets is taken or refused as node:net does', () => {
  const calls = {
    nothing: [],
    undefined: [undefined],
    null: [null],
    'no port': [{ port: undefined }],
    'null for a port': [{ port: null }],
    'a port': [{ port: 0, host: '127.0.0.1' }],
    'a port in digits': ['0'],
    'a port past the last': [65_536],
    'a port below 0': [-1],
    'a port with a fraction': [0.5],
    'a port that is no number': [NaN],
    'an empty port': [''],
    'a blank port': [' '],
    'a port in letters': [{ port: 'http' }],
    'a host that is no text': [{ port: 0, host: 5 }],
    'no host': [{ port: 0, host: null }],
    'no backlog': [{ port: 0, backlog: null }],
    'a backlog of 0': [{ port: 0, backlog: 0 }],
    'a backlog in place of the host': [0, 5],
    'a backlog behind the host': [0, '127.0.0.1', 5],
    'a signal that is none': [{ port: 0, signal: 'SIGTERM' }],
    'null for a signal': [{ port: 0, signal: null }],
    'flags that are no booleans': [{ port: 0, ipv6Only: 0, exclusive: 'yes' }],
  };
  for (const [what, values] of Object.entries(calls)) {
    assert.strictEqual(listenWith(any, values), listenWith(theirs, values), what);
  }
});

test('what is no port is not taken for any free one', () => {
  for (const port of [NaN, '', false, {}]) {
    assert.strictEqual(listenWith(any, [{ port }]), 'RangeError ERR_SOCKET_BAD_PORT');
  }
});

test('a path or a descriptor is refused, and no port is taken instead', () => {
  const refusal = 'TypeError ERR_INVALID_ARG_VALUE';
  assert.strictEqual(listenWith(any, [{ path: '/tmp/socket' }]), refusal);
  assert.strictEqual(listenWith(any, [{ fd: 3 }]), refusal);
  assert.strictEqual(connectWith(any, [{ path: '/tmp/socket' }]), refusal);
  // With both node:net listens on the port, but connects to the path.
  assert.strictEqual(listenWith(any, [{ port: 0, path: '/tmp/socket' }]), 'taken');
  assert.strictEqual(connectWith(any, [{ port: 1, path: '/tmp/socket' }]), refusal);
  assert.strictEqual(connectWith(any, [{ port: 1, path: null }]), 'taken');
});

test('listening on an object needs a port in it', () => {
  for (const options of [{}, { prot: 80 }, { host: '::' }]) {
    assert.strictEqual(listenWith(any, [options]), 'TypeError ERR_INVALID_ARG_VALUE');
  }
});

test('a backlog or a local port that no system takes is refused', () => {
  for (const backlog of [-1, 1.5, 2 ** 31]) {
    assert.strictEqual(listenWith(any, [{ port: 0, backlog }]), 'RangeError ERR_OUT_OF_RANGE');
  }
  assert.strictEqual(
    listenWith(any, [{ port: 0, backlog: '5' }]),
    'TypeError ERR_INVALID_ARG_TYPE',
  );
  for (const localPort of [-1, 1.5, 65_536, 'http']) {
    assert.strictEqual(
      connectWith(any, [{ port: 1, localPort }]),
      'RangeError ERR_SOCKET_BAD_PORT',
    );
  }
});
