'use strict';

// How connections and servers come into each of their states. The names go on after what is done
// there: "it is closed twice while it is open".

const assert = require('assert');
const { once } = require('events');
const oxwire = require('../..');
const {
  closed,
  fill,
  freePort,
  listen,
  pair,
  pairWithNode,
  read,
  turns,
  write,
} = require('./sockets');
const { isUnansweringKnown, unansweringPort } = require('./unanswering');

/** @typedef {import('./sockets').Scope} Scope */

const HALF_OPEN = { allowHalfOpen: true };

/** @type {Record<string, (t: Scope) => Promise<import('../..').Connection>>} */
const CONNECTION_STATES = {
  'while it is connecting': async (t) => oxwire.connect(await unansweringPort(t)),
  'after end, while it is connecting': async (t) => {
    const connection = oxwire.connect(await unansweringPort(t));
    connection.end();
    return connection;
  },
  'after close, while it is connecting and a write waits': async (t) => {
    const connection = oxwire.connect(await unansweringPort(t));
    connection.write('x');
    connection.close();
    return connection;
  },
  'while it is open': async (t) => (await pair(t, HALF_OPEN)).client,
  'after end, while a write waits': async (t) => {
    const { client } = await pair(t, HALF_OPEN);
    await fill(client);
    client.end();
    return client;
  },
  'once our side is ended': async (t) => {
    const { client } = await pair(t, HALF_OPEN);
    client.end();
    await once(client, 'finish');
    return client;
  },
  "once the peer's side is ended": async (t) => {
    const { client, peer } = await pair(t, HALF_OPEN);
    peer.end();
    await read(client);
    return client;
  },
  'once both sides are ended': async (t) => {
    const { client, peer } = await pair(t);
    client.end();
    peer.end();
    await Promise.all([closed(client), read(client)]);
    return client;
  },
  'after close': async (t) => {
    const { client } = await pair(t, HALF_OPEN);
    client.close();
    return client;
  },
  'after destroy': async (t) => {
    const { client } = await pair(t, HALF_OPEN);
    return client.destroy();
  },
  'after destroy with an error': async (t) => {
    const { client } = await pair(t, HALF_OPEN);
    return client.destroy(new Error('the reason'));
  },
  'once it is closed': async (t) => {
    const { client } = await pair(t, HALF_OPEN);
    client.close();
    await closed(client);
    return client;
  },
  'once the peer has reset it and nobody knows': async (t) => {
    const { connection, socket } = await pairWithNode(t, HALF_OPEN);
    socket.resetAndDestroy();
    await turns();
    return connection;
  },
  'once a write has met the reset': async (t) => {
    const { connection, socket } = await pairWithNode(t, HALF_OPEN);
    socket.resetAndDestroy();
    await turns();
    const over = closed(connection);
    await assert.rejects(write(connection, 'x'));
    await over;
    return connection;
  },
  'once it was refused': async () => {
    const connection = oxwire.connect(await freePort());
    connection.on('error', () => {});
    await closed(connection);
    return connection;
  },
  'where nobody connects it': async () => new oxwire.Connection(),
};

/** @type {Record<string, (t: Scope) => Promise<import('../..').Server>>} */
const SERVER_STATES = {
  'before it listens': async () => oxwire.createServer(),
  'when listen was called': async () => {
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1');
    return server;
  },
  'while it looks a name up': async () => {
    const server = oxwire.createServer();
    server.on('error', () => {});
    server.listen(0, 'localhost');
    await Promise.resolve();
    return server;
  },
  'while it listens': async (t) => listen(t),
  'when close was called': async (t) => {
    const server = await listen(t);
    server.close();
    return server;
  },
  'once it is closed': async (t) => {
    const server = await listen(t);
    server.close();
    await once(server, 'close');
    return server;
  },
  'once listening has failed': async (t) => {
    const other = await listen(t);
    const server = oxwire.createServer();
    server.listen(other.address().port, '127.0.0.1');
    await once(server, 'error');
    return server;
  },
};

if (!isUnansweringKnown) {
  for (const state of Object.keys(CONNECTION_STATES)) {
    if (state.includes('connecting')) delete CONNECTION_STATES[state];
  }
}

module.exports = { CONNECTION_STATES, SERVER_STATES };
