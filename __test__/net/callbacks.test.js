'use strict';

// What a program may do within any callback and any listener: close, destroy, everything at once, or
// throw. Whatever it does, everything else is told, once.

const assert = require('assert');
const path = require('path');
const { spawn } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { LIVES, callAll } = require('../support/lives');
const { Calls, leavesNothing } = require('../support/watch');

/** @typedef {import('../support/sockets').Scope} Scope */

/**
 * What is done in a moment.
 *
 * @type {Record<string, (handle: any, calls: Calls) => void>}
 */
const ACTIONS = {
  close(handle) {
    handle.close();
  },
  'close, twice, with callbacks'(handle, calls) {
    for (const name of ['act: close', 'act: close again']) handle.close(calls.of(name));
  },
  destroy(handle) {
    if (handle instanceof oxwire.Connection) handle.destroy(new Error('reason'));
    else handle.close();
  },
  everything(handle, calls) {
    if (handle instanceof oxwire.Connection) {
      callAll(handle, calls, 'act');
      handle.destroy();
      callAll(handle, calls, 'act again');
    } else {
      handle.close(calls.of('act: close'));
      assert.throws(() => handle.address(), { code: 'ERR_SERVER_NOT_RUNNING' });
      handle.close(calls.of('act: close again'));
    }
  },
};

/** @param {string} entry of a log */
const momentOf = (entry) => entry.replace(/ (E[A-Z_]+|reason)$/, '');

for (const life of Object.keys(LIVES)) {
  for (const [action, act] of Object.entries(ACTIONS)) {
    test(`in ${life}, ${action} is possible within each callback`, async () => {
      /** @param {string} [moment] */
      const live = async (moment) => {
        /** @type {string[]} */
        let log = [];
        await leavesNothing(async (t) => {
          const calls = new Calls();
          const ofAct = new Calls();
          ({ log } = calls);
          const actThere = (/** @type {string} */ name, /** @type {any} */ handle) => {
            if (name === moment) act(handle, ofAct);
          };
          await LIVES[life](t, actThere, calls);
          await calls.once();
          await ofAct.once();
        });
        return log;
      };
      for (const entry of await live()) {
        const moment = momentOf(entry);
        try {
          await live(moment);
        } catch (error) {
          /** @type {Error} */ (error).message =
            `in ${moment}: ${/** @type {Error} */ (error).message}`;
          throw error;
        }
      }
    });
  }
}

test('a server may listen again within any of its callbacks', () =>
  leavesNothing(async (t) => {
    const other = oxwire.createServer();
    t.after(() => other.close());
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address();
    for (const moment of ['listening', 'close callback', 'close', 'error']) {
      const server = oxwire.createServer();
      const calls = new Calls();
      const again = calls.of('listens again', () => server.close(calls.of('closed again')));
      const act = (/** @type {string} */ name) => {
        if (name !== moment) return;
        if (name === 'listening') server.close(calls.of('closed'));
        server.listen(0, '127.0.0.1', again);
      };
      let closes = 0;
      server.on('close', () => closes++ === 0 && act('close'));
      server.on('error', () => act('error'));
      server.listen(moment === 'error' ? port : 0, '127.0.0.1', () => {
        act('listening');
        if (moment.startsWith('close')) server.close(() => act('close callback'));
      });
      await calls.once();
      assert.strictEqual(closes, moment === 'error' ? 1 : 2, moment);
    }
  }));

test('a throw within any callback is one uncaughtException, and nothing else changes', async () => {
  // In a process of its own: here, an uncaughtException fails the test.
  const child = spawn(process.execPath, [path.join(__dirname, '../support/throwing.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  assert.deepStrictEqual(await once(child, 'close'), [0, null]);
  const lives = Object.entries(JSON.parse(output));
  assert.strictEqual(lives.length, Object.keys(LIVES).length);
  for (const [life, { '': calm, ...moments }] of lives) {
    assert.deepStrictEqual([calm.caught, calm.wrong], [[], ''], life);
    assert.strictEqual(Object.keys(moments).length, calm.log.length);
    for (const [moment, { caught, log, wrong }] of Object.entries(moments)) {
      const where = `${life}, ${moment}`;
      assert.deepStrictEqual([caught, wrong], [[`in ${moment}`], ''], where);
      assert.deepStrictEqual([...log].sort(), [...calm.log].sort(), where);
    }
  }
});
