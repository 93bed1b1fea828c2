'use strict';

// Run by itself: each life, with a throw in one moment after the other. Says what was caught and what
// was called, as JSON: { life: { moment: { caught, log, wrong } } }, where the moment '' has no throw.

const { LIVES } = require('./lives');
const { Calls, leavesNothing } = require('./watch');

/** @type {string[]} */
let caught = [];
process.on('uncaughtException', (error) => caught.push(error.message));

/** @param {string} life @param {string} moment */
async function liveOnce(life, moment) {
  caught = [];
  /** @type {string[]} */
  let log = [];
  let wrong = '';
  try {
    await leavesNothing(async (t) => {
      const calls = new Calls();
      ({ log } = calls);
      const act = (/** @type {string} */ name) => {
        if (name === moment) throw new Error(`in ${moment}`);
      };
      await LIVES[life](t, act, calls);
      await calls.once();
    });
  } catch (error) {
    wrong = /** @type {Error} */ (error).message;
  }
  return { caught, log, wrong };
}

async function main() {
  const results = {};
  for (const life of Object.keys(LIVES)) {
    const calm = await liveOnce(life, '');
    results[life] = { '': calm };
    for (const entry of calm.log) {
      const moment = entry.replace(/ (E[A-Z_]+|reason)$/, '');
      results[life][moment] = await liveOnce(life, moment);
    }
  }
  console.log(JSON.stringify(results));
}

main();
