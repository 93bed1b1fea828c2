'use strict';

// Lives of connections and servers, which go through every callback and event there is. In each of
// them something may be done: `act` is called there with the name of the moment and the connection
// or server.

const oxwire = require('../..');
const { fill, freePort, listen, pair, pairWithNode } = require('./sockets');
const { until } = require('./watch');

/** @typedef {import('./sockets').Scope} Scope */
/** @typedef {import('./watch').Calls} Calls */
/** @typedef {(moment: string, handle: any) => unknown} Act */

/**
 * Everything that a connection can be asked.
 *
 * @param {import('../..').Connection} connection
 * @param {Calls} calls
 * @param {string} name of this round
 */
function callAll(connection, calls, name) {
  connection.read(Buffer.alloc(8), calls.of(`${name}: read`));
  connection.read(Buffer.alloc(0), calls.of(`${name}: read into nothing`));
  connection.write('x', calls.of(`${name}: write`));
  connection.write('', calls.of(`${name}: write nothing`));
  connection.write(Buffer.alloc(5000), calls.of(`${name}: write much`));
  connection.writev([Buffer.alloc(1), Buffer.alloc(1)], calls.of(`${name}: writev`));
  connection.writev([Buffer.alloc(5000)], calls.of(`${name}: writev much`));
  connection.end(calls.of(`${name}: end`));
  connection.close(calls.of(`${name}: close`));
}

/**
 * Each resolves when its part is done, which is not to say that everything was called.
 *
 * @type {Record<string, (t: Scope, act: Act, calls: Calls) => Promise<void>>}
 */
const LIVES = {
  /** From listening to the end of both sides. */
  async 'a whole life'(t, act, calls) {
    const server = oxwire.createServer({ allowHalfOpen: true });
    t.after(() => server.close());
    let port = 0;
    server.on(
      'connection',
      calls.most('connection', (peer) => {
        t.after(() => peer.destroy());
        peer.write('hello');
        peer.read(Buffer.alloc(1 << 20), function onread(error, buffer, count) {
          if (count > 0) peer.read(buffer, onread);
          else peer.end();
        });
        act('connection', peer);
      }),
    );
    server.on(
      'close',
      calls.of('server close', () => act('server close', server)),
    );
    server.listen(
      0,
      '127.0.0.1',
      calls.of('listening', () => {
        ({ port } = server.address());
        act('listening', server);
      }),
    );
    await until(() => port > 0);

    const client = oxwire.connect(port, { allowHalfOpen: true });
    t.after(() => client.destroy());
    const moment = (/** @type {string} */ name) => calls.of(name, () => act(name, client));
    client.read(Buffer.alloc(8), moment('read'));
    client.read(Buffer.alloc(8), moment('read at the end'));
    client.write('early', moment('write before connect'));
    const goOn = () => {
      client.write('x', moment('write at once'));
      client.write('x', moment('staged'));
      client.write('', moment('staged nothing'));
      client.write(Buffer.alloc(8 << 20), moment('waiting'));
      client.writev([Buffer.alloc(5000), Buffer.alloc(1)], moment('writev'));
      client.writev([], moment('writev nothing'));
      client.end(moment('end callback'));
    };
    let goneOn = false;
    client.on(
      'connect',
      calls.most('connect', () => {
        goneOn = true;
        goOn();
        act('connect', client);
      }),
    );
    for (const event of ['error', 'finish']) {
      client.on(
        event,
        calls.most(event, () => act(event, client)),
      );
    }
    client.on(
      'end',
      calls.most('end', () => {
        client.close(moment('close callback'));
        act('end', client);
      }),
    );
    client.on('close', moment('close'));
    await until(() => client.closed && calls.log.includes('close'));
    if (!goneOn) goOn();
    server.close(calls.of('server close callback', () => act('server close callback', server)));
  },

  /** Everything is cut off. */
  async 'a close with all pending'(t, act, calls) {
    const { client } = await pair(t, { allowHalfOpen: true });
    await fill(client);
    const moment = (/** @type {string} */ name) => calls.of(name, () => act(name, client));
    client.read(Buffer.alloc(8), moment('read'));
    client.read(Buffer.alloc(8), moment('read again'));
    client.write('x', moment('write'));
    client.write('', moment('write nothing'));
    client.writev([Buffer.alloc(5000)], moment('writev'));
    client.end(moment('end callback'));
    client.on('finish', moment('finish'));
    client.on('close', moment('close'));
    client.close(moment('close callback'));
    client.close(moment('close callback again'));
  },

  /** The peer resets it. */
  async 'a reset with all pending'(t, act, calls) {
    const { connection, socket } = await pairWithNode(t, { allowHalfOpen: true });
    await new Promise((resolve) => socket.write('last', resolve));
    await fill(connection);
    const moment = (/** @type {string} */ name) => calls.of(name, () => act(name, connection));
    connection.write('x', moment('write'));
    connection.writev([Buffer.alloc(5000)], moment('writev'));
    connection.end(moment('end callback'));
    connection.on(
      'finish',
      calls.most('finish', () => act('finish', connection)),
    );
    connection.on('close', moment('close'));
    connection.read(Buffer.alloc(3), moment('read'));
    connection.read(Buffer.alloc(3), moment('read the rest'));
    connection.read(Buffer.alloc(3), moment('read that fails'));
    connection.read(Buffer.alloc(3), moment('read that fails too'));
    socket.resetAndDestroy();
  },

  /** Nobody listens. */
  async 'a refused connection'(t, act, calls) {
    const client = oxwire.connect(await freePort());
    const moment = (/** @type {string} */ name) => calls.of(name, () => act(name, client));
    client.on(
      'error',
      calls.most('error', () => act('error', client)),
    );
    client.on('close', moment('close'));
    client.read(Buffer.alloc(8), moment('read'));
    client.write('x', moment('write'));
    client.writev([Buffer.alloc(5000)], moment('writev'));
    client.end(moment('end callback'));
    t.after(() => client.destroy());
  },

  /** It is given up with an error that nobody takes. */
  async 'an error that is an event'(t, act, calls) {
    const { client } = await pair(t);
    client.on(
      'error',
      calls.of('error', () => act('error', client)),
    );
    client.on(
      'close',
      calls.of('close', () => act('close', client)),
    );
    client.destroy(new Error('reason'));
  },

  /** The port is used. */
  async 'a server that fails'(t, act, calls) {
    const other = await listen(t);
    const server = oxwire.createServer();
    t.after(() => server.close());
    server.on(
      'error',
      calls.of('error', () => act('error', server)),
    );
    server.listen(other.address().port, '127.0.0.1');
  },

  /** Before it has listened, and before it has been asked to. */
  async 'a server that is cancelled'(t, act, calls) {
    const server = oxwire.createServer();
    const moment = (/** @type {string} */ name) => calls.of(name, () => act(name, server));
    server.close(moment('close callback, not running'));
    server.listen(0, '127.0.0.1');
    server.close(moment('close callback'));
    server.close(moment('close callback again'));
    server.on('close', moment('close'));
  },
};

module.exports = { LIVES, callAll };
