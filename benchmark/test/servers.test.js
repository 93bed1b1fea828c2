'use strict';

const { spawnSync } = require('node:child_process');
const { before, test } = require('node:test');
const { SCENARIOS } = require('../echo/scenarios');
const { startServer, stopServer } = require('../echo/server');
const { measureSlice } = require('../echo/slice');
const { buildRust } = require('../harness/prepare');

const SETTINGS = { cycles: 1, seconds: 0.2, warmup: 0, pinned: false };

/** Neither a round number nor one that a buffer of the servers is a multiple of. */
const SIZE = 3001;

const usable = process.platform === 'linux' && spawnSync('cargo', ['--version']).status === 0;
const skip = usable ? false : 'the load generator needs Linux and is built by cargo';

/** @type {Record<string, string>} */
let programs = {};

before(() => {
  if (usable) programs = buildRust(['load', 'peers'], () => {}, 'dev');
});

/** A system may refuse it to all, or to a container. */
function hasUring() {
  const { stderr } = spawnSync(programs.peers, ['io-uring', '0', 'echo', '1'], {
    encoding: 'utf8',
    timeout: 500,
  });
  return stderr === '';
}

/** Each server in each mode once. */
const servers = new Map(
  SCENARIOS.flatMap((scenario) =>
    scenario.peers.map((peer) => {
      const driver = peer.env?.OXWIRE_DRIVER;
      const name = `${peer.program} ${peer.mode}${driver ? `, driver ${driver}` : ''}`;
      return [name, { scenario, peer }];
    }),
  ),
);

for (const [name, { scenario, peer }] of servers) {
  const echoes = scenario.size === scenario.reply && !peer.mode.startsWith('reply');
  const reply = echoes || peer.mode.startsWith('reply') ? SIZE : 2 * SIZE;
  const verify = echoes ? '--verify' : '--verify=reply';
  const messages = { ...scenario, size: SIZE, reply, load: /** @type {const} */ ('traffic') };

  test(`no byte is lost or changed: ${name}`, { skip }, async (t) => {
    if (peer.program === 'io-uring' && !hasUring()) {
      t.skip('there is no io_uring here');
      return;
    }
    const server = await startServer(messages, peer, false, programs.peers);
    const exchange = (/** @type {Partial<typeof scenario>} */ load) => {
      const slice = { ...messages, connections: 3, ...load };
      return measureSlice(slice, server, SETTINGS, programs.load, [verify]);
    };
    try {
      await exchange({ depth: 20 });
      // Answers that nobody fetches fill the kernel's buffers.
      if (echoes) await exchange({ depth: 0 });
      await exchange({ load: 'churn' });
      await exchange({ load: 'idle' });
    } finally {
      await stopServer(server);
    }
  });
}
