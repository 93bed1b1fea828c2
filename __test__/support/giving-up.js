'use strict';

// Every way to give a pipe up, at every moment. Run as a program it goes through all of them and
// says how many descriptors that has left; then nothing keeps the process alive.

const net = require('net');
const { once } = require('events');
const oxwire = require('../..');
const { begin, beginRunning, countDescriptors, ends, pump, until } = require('./pipes');
const { closed, fill, turns } = require('./sockets');

/** @typedef {import('node:test').TestContext} Test */
/** @typedef {import('../..').Connection} Connection */

/**
 * @typedef {object} Moment
 * @property {{ source: Connection, target: Connection }} connections
 * @property {net.Socket[]} peers
 * @property {ReturnType<typeof begin>} begun
 * @property {boolean} [late] whether it may be over, or is
 */

/** What gives it up. @type {Record<string, (connection: Connection, abort: () => void) => void>} */
const ACTIONS = {
  destroy: (connection) => connection.destroy(),
  'destroy with an error': (connection) => connection.destroy(new Error('enough')),
  close: (connection) => connection.close(),
  resetAndDestroy: (connection) => connection.resetAndDestroy(),
  abort: (_connection, abort) => abort(),
};

/** When. @type {Record<string, (t: Test, options: import('../..').PipeOptions) => Promise<Moment>>} */
const MOMENTS = {
  async 'before both are connected'(t, options) {
    const port = await listenWithNode(t);
    const [source, target] = [oxwire.connect(port), oxwire.connect(port)];
    return {
      connections: { source, target },
      peers: [],
      begun: begin({ source, target }, options),
    };
  },
  async 'while writes wait'(t, options) {
    const piped = await ends(t);
    await fill(piped.target);
    return momentOf(piped, begin(piped, options));
  },
  async 'while nothing moves'(t, options) {
    const piped = await ends(t);
    return momentOf(piped, await beginRunning(piped, options));
  },
  async 'while much moves'(t, options) {
    const piped = await ends(t);
    const begun = begin(piped, options);
    for (const socket of [piped.left, piped.right]) pump(socket.resume());
    await until(() => piped.source.bytesRead > 1 << 20 && piped.target.bytesRead > 1 << 20);
    return momentOf(piped, begun);
  },
  async 'while nobody receives'(t, options) {
    const piped = await ends(t);
    const begun = begin(piped, options);
    for (const socket of [piped.left, piped.right]) socket.write(Buffer.alloc(48 << 20));
    await until(() => piped.source.bytesRead > 0 && piped.target.bytesRead > 0);
    return momentOf(piped, begun);
  },
  async 'when one way has ended'(t, options) {
    const piped = await ends(t);
    const begun = await beginRunning(piped, options);
    piped.left.end();
    await once(piped.right.resume(), 'end');
    return momentOf(piped, begun);
  },
  async 'as it ends'(t, options) {
    const piped = await ends(t);
    const begun = await beginRunning(piped, options);
    for (const socket of [piped.left, piped.right]) socket.end();
    return momentOf(piped, begun, true);
  },
  async 'just after its callback'(t, options) {
    const moment = await MOMENTS['as it ends'](t, options);
    await moment.begun.told;
    return moment;
  },
  async 'when all is over'(t, options) {
    const moment = await MOMENTS['as it ends'](t, options);
    await moment.begun.over;
    return moment;
  },
};

/**
 * @param {import('./pipes').Ends} ends
 * @param {ReturnType<typeof begin>} begun
 * @returns {Moment}
 */
function momentOf({ source, target, left, right }, begun, late = false) {
  return { connections: { source, target }, peers: [left, right], begun, late };
}

/**
 * The port of a server of node:net, whose connections end when their peers do.
 *
 * @param {Test} t
 * @returns {Promise<number>}
 */
async function listenWithNode(t) {
  const server = net.createServer((socket) => socket.on('error', () => {}).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return /** @type {net.AddressInfo} */ (server.address()).port;
}

/**
 * Gives one pipe up, and says what was heard then.
 *
 * @param {Test} t
 * @param {string} moment
 * @param {string} action
 * @param {'source' | 'target'} which
 * @param {boolean} splice
 */
async function giveUp(t, moment, action, which, splice) {
  const abort = new AbortController();
  const made = await MOMENTS[moment](t, { splice, signal: abort.signal });
  const { connections, peers, begun, late = false } = made;
  const { source, target } = connections;
  const gone = peers.map((socket) => socket.closed || closed(socket));
  for (const socket of peers) {
    if (socket.readableEnded) socket.end();
    else socket.on('end', () => socket.end()).resume();
  }
  const before = begun.log.length;
  ACTIONS[action](connections[which], () => abort.abort());
  const within = begun.log.slice(before);
  const { error, result } = await begun.told;
  if (!(source.closed && target.closed)) await begun.over;
  await Promise.all(gone); // The peers know: our descriptors are closed.
  await turns(3); // Whatever comes twice comes then.
  const count = (/** @type {string} */ entry) => begun.log.filter((told) => told === entry).length;
  return {
    error,
    result,
    late,
    within,
    callbacks: count('callback'),
    closes: [count('source close'), count('target close')],
    errors: count('source error') + count('target error'),
  };
}

async function main() {
  /** @type {(() => void)[]} */
  const after = [];
  const t = /** @type {any} */ ({ after: (/** @type {() => void} */ end) => after.push(end) });
  /** @param {string[]} actions */
  const run = async (actions) => {
    let number = 0;
    for (const moment of Object.keys(MOMENTS)) {
      for (const action of actions) {
        const which = number++ % 2 === 0 ? 'source' : 'target';
        await giveUp(t, moment, action, which, number % 4 < 2);
        for (const end of after.splice(0)) end();
      }
    }
  };
  await run(['destroy']); // That opens what is opened once.
  const before = countDescriptors();
  await run(Object.keys(ACTIONS));
  // Nothing tells when the descriptors of a pipe that was given up are closed.
  await until(() => countDescriptors() <= before);
  console.log('nothing left');
}

if (require.main === module) main();

module.exports = { ACTIONS, MOMENTS, giveUp };
