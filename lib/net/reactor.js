'use strict';

// Turns of the event loop as sockets see them. The native reactor enters `dispatch` once per
// wake-up, with all sockets that have become ready, and once in the next turn if anything was left
// to do: completions whose callbacks are due, and sockets that are still ready.

const { setImmediate, setTimeout } = require('timers');
const native = require('../native.js');
const errors = require('../errors.js');
const asyncContext = require('./async-context.js');
const driver = require('./driver.js');
const { pool } = require('./pool.js');
const { END, PIPE, Queue, STEP, release } = require('./request.js');

/**
 * What has a place in the table: a connection or a server.
 *
 * @typedef {object} Handle
 * @property {number} _nativeId
 * @property {boolean} _listed whether it is among those that are still ready
 * @property {Handle | null} _nextListed
 * @property {(readiness: number) => void} _onready it has become ready
 * @property {() => void} _proceed it still was ready, and a turn has passed
 */

const READABLE = 1;
const WRITABLE = 2;
const HANGUP = 4;
const PIPE_ENDED = 8;

/** What `dispatch` is told, beside a number of events, and what it says. */
const ROUND = 0;
const COMPLETIONS = -2;
const NOTHING = 0;
const ROUND_NEXT_TURN = 1;
const COMPLETIONS_NOW = 2;

/** How many rounds that keep nothing alive follow each other before other things have a turn. */
const UNKEPT_IN_A_ROW = 64;

/** Where in the shared words the native half sees whether `dispatch` was entered. */
const ENTRIES = 2;

const shared = new ArrayBuffer(native.SHARED_LENGTH);
const words = new Int32Array(shared, 0, native.STAGE / 4);
const stage = Buffer.from(shared, native.STAGE);

/** @type {import('../native.js').NativeReactor | null} */
let reactor = null;
/** Whether Node's event loop wakes it. */
let inLoop = false;
/** Whether a round was asked for, and how many were that do not keep the process. */
let asked = false;
let unkept = 0;

/** Sockets and servers by the index of their id. @type {Array<Handle | undefined>} */
const table = [];

/** How many dispatches there were; what happens between two belongs to one turn. */
let turn = 0;
let dispatching = false;
let exiting = false;
/** Whether the round under way has yet to take over what is still ready. */
let startRound = false;
/** Whether handles had their step in the dispatch under way. */
let stepped = false;
/** Whether completions were run in this turn, once being enough, and whether it is past its round. */
let completed = false;
let inPoll = false;
/** Whether those of the last dispatch have theirs before anything else. */
let completing = false;

/** Completions for the next round, and those of the round under way. */
const done = new Queue();
const running = new Queue();

/** What is still ready: for the next round, and in the round under way. */
/** @type {Handle | null} */
let listedHead = null;
/** @type {Handle | null} */
let listedTail = null;
/** @type {Handle | null} */
let proceeding = null;

/** The part of the ring that has not been walked. */
let ringNext = 0;
let ringEnd = 0;

/** How many sockets and servers want the process to live, and whether what is due does. */
let alive = 0;
let dueRefed = false;
/** Whether the event loop was told to. */
let keptAlive = false;

/** Sends what the stage holds; lib/net/stage.js says how. */
let flushStage = () => {};

/** @param {() => void} flush */
function onFlush(flush) {
  flushStage = flush;
}

/** The native reactor, opened on first use. @returns {import('../native.js').NativeReactor} */
function open() {
  if (reactor !== null) return reactor;
  const result = driver.open(
    (loop) => native.openReactor(new Uint8Array(shared), dispatch, asyncContext.root, loop),
    native.ENOSYS,
  );
  const { opened } = result;
  if (typeof opened === 'number') throw errors.system(opened, 'open');
  reactor = opened;
  inLoop = result.inLoop;
  process.on('exit', onexit);
  return reactor;
}

/** Nothing comes after this turn: what is staged leaves now, and later writes are not staged. */
function onexit() {
  exiting = true;
  flushStage();
}

/** A number that changes with each dispatch. */
function currentTurn() {
  return turn;
}

/** Whether there will be no other turn. */
function isLastTurn() {
  return exiting;
}

/**
 * @param {number} id
 * @param {Handle} handle
 */
function register(id, handle) {
  table[id & native.INDEX_MASK] = handle;
}

/** @param {number} id */
function unregister(id) {
  table[id & native.INDEX_MASK] = undefined;
}

/** The callback, or step, of a request is due in the next round. @param {import('./request.js').Request} request */
function complete(request) {
  done.push(request);
  schedule(request.socket);
}

/** Moves a whole queue of one socket there. @param {Queue} queue */
function completeAll(queue) {
  if (queue.head === null) return;
  const { socket } = queue.head;
  done.append(queue);
  schedule(socket);
}

/** Runs a queue before anything else of the round under way; only for a step. @param {Queue} queue */
function runNext(queue) {
  running.prepend(queue);
}

/** The handle is still ready: it goes on in the next round. @param {Handle} handle */
function list(handle) {
  if (handle._listed) return;
  handle._listed = true;
  if (listedTail === null) listedHead = handle;
  else listedTail._nextListed = handle;
  listedTail = handle;
  wake();
}

/**
 * There will be a round in the next turn, and the process waits for it if it waits for the handle.
 *
 * @param {import('./handle.js')} handle
 */
function schedule(handle) {
  if (handle._refed) dueRefed = true;
  wake();
}

/** There will be a round, if nothing ends the process before. */
function wake() {
  if (dispatching) return; // It asks as it ends.
  open();
  syncAlive();
  askForRound();
}

/**
 * Asks for a round, once a turn. Outside of the loop an immediate has it. But an immediate would keep
 * the process alive where nothing else does, and one that does not may have to wait for another
 * event; the native half knows how to have a round soon without that.
 * Bun and Deno have no turn, and no end, between such rounds: a timer gives them one.
 */
function askForRound() {
  if (asked || completing) return;
  const { schedule } = open();
  if (inLoop) schedule();
  else if (keptAlive) setImmediate(haveRound);
  else if (++unkept % UNKEPT_IN_A_ROW !== 0) schedule();
  else setTimeout(haveRound, 0).unref();
  asked = true; // Near the limit of the stack it may not come to this.
}

function haveRound() {
  open().round();
}

/** One more wants the process to live. Near the limit of the stack it may fail: nothing has changed. */
function hold() {
  if (!dispatching) syncAlive(alive + 1);
  alive++;
}

/** A handle waits again: so does the process, until the next round, for what is due or staged. */
function holdDue() {
  if (reactor === null) return;
  dueRefed = true;
  wake();
}

/** One less. */
function letGo() {
  if (!dispatching) syncAlive(alive - 1);
  alive--;
}

function syncAlive(count = alive) {
  const keep = count > 0 || dueRefed;
  if (keep === keptAlive) return;
  open().keepAlive(keep);
  keptAlive = keep;
}

/**
 * Hot: entered by the native half, once per wake-up and round, and after either once more for the
 * completions of what was done there. An exception leaves it as it is; it is then entered again with
 * -1 and goes on behind the callback that threw.
 *
 * @param {number} events how many are in the ring; or ROUND, COMPLETIONS, or -1: go on
 * @returns {number} NOTHING, ROUND_NEXT_TURN or COMPLETIONS_NOW
 */
function dispatch(events) {
  asyncContext.setDispatching(true);
  try {
    return proceed(events);
  } finally {
    // Who hears of an exception is not in the dispatch, which goes on afterwards.
    asyncContext.setDispatching(false);
  }
}

/** @param {number} events as for dispatch */
function proceed(events) {
  dispatching = true;
  words[ENTRIES]++;
  if (events > 0) {
    ringNext = native.RING;
    ringEnd = native.RING + 2 * events;
    stepped = inPoll = true;
  } else if (events === ROUND || events === COMPLETIONS) {
    completing = false;
    flushStage();
    completed = done.head !== null;
    running.append(done);
    dueRefed = false;
    if (events === ROUND) {
      asked = inPoll = false;
      startRound = true;
    }
  }

  while (running.head !== null) run(running.shift());

  if (startRound) {
    startRound = false;
    proceeding = listedHead;
    listedHead = listedTail = null;
    stepped = proceeding !== null;
  }
  while (proceeding !== null) {
    const handle = proceeding;
    proceeding = handle._nextListed;
    handle._nextListed = null;
    handle._listed = false;
    handle._proceed();
  }

  while (ringNext < ringEnd) {
    const id = words[ringNext];
    const readiness = words[ringNext + 1];
    ringNext += 2;
    const handle = table[id & native.INDEX_MASK];
    if (handle !== undefined && handle._nativeId === id) handle._onready(readiness);
  }

  flushStage();
  turn = (turn + 1) | 0;
  dispatching = false;
  const isDue = done.head !== null;
  completing = inLoop && isDue && stepped && !completed;
  stepped = false;
  if (inPoll) completed = false; // What comes next is another turn.
  if (completing) return COMPLETIONS_NOW;
  if (!isDue) dueRefed = false; // Nothing is staged either.
  syncAlive();
  if (!isDue && listedHead === null) return NOTHING;
  if (!inLoop) {
    askForRound();
    return NOTHING;
  }
  asked = true;
  return ROUND_NEXT_TURN;
}

/** @param {import('./request.js').Request} request */
function run(request) {
  const { kind, callback, context, error } = request;
  if (kind === STEP) {
    const { socket, order } = request;
    release(request);
    socket._step(order, error);
    return;
  }
  const { buffer, length } = request;
  if (request.releases !== null) pool.putBack(request.releases);
  release(request);
  if (callback === null) return;
  if (kind < END || kind === PIPE) asyncContext.callback3(context, callback, error, buffer, length);
  else asyncContext.callback1(context, callback, error);
}

/** What has been done in this environment so far, by name. */
function counters() {
  return open().counters();
}

module.exports = {
  HANGUP,
  PIPE_ENDED,
  READABLE,
  WRITABLE,
  complete,
  completeAll,
  counters,
  currentTurn,
  hold,
  holdDue,
  isLastTurn,
  letGo,
  list,
  onFlush,
  open,
  register,
  runNext,
  schedule,
  stage,
  unregister,
  wake,
  words,
};
