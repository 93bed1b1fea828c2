'use strict';

// Callbacks run in the async context of the call that passed them: AsyncLocalStorage finds its
// store there (semantics 4). An AsyncResource per operation does that, at 75 bytes of garbage each.
// It is made only where there is something to keep.
//
// Node's stores are properties of the resource that is current (executionAsyncResource()). Every
// dispatch runs with `root` as the current resource; as long as nobody has put a store on it, an
// operation begun there has no context to keep.

const { AsyncLocalStorage, AsyncResource, executionAsyncResource } = require('async_hooks');

const OPTIONS = { requireManualDestroy: true };

/** What the current callback has put on `root`. @type {Record<PropertyKey, unknown>} */
let stores = {};

/** Whether any store was ever met; from then on every operation keeps its context. */
let inUse = false;

/** `this`, and the current resource, of every dispatch. */
const root = new Proxy(
  {},
  {
    get: (_target, key) => stores[/** @type {string} */ (key)],
    set(_target, key, value) {
      inUse = true;
      stores[/** @type {string} */ (key)] = value;
      return true;
    },
  },
);

const make = () => new AsyncResource('OXWIRE', OPTIONS);
/** @param {object} resource */
const countStores = (resource) => Object.getOwnPropertySymbols(resource).length;

const without = countStores(make());

// Where Node keeps stores elsewhere (AsyncContextFrame), they can't be seen: always keep.
{
  const probe = new AsyncLocalStorage();
  inUse = probe.run(true, () => countStores(make())) === without;
  probe.disable();
}

/**
 * In Deno a resource keeps alive the one in whose scope it was made, and that the one before, so
 * callbacks that begin operations would never be freed. One resource for all has no store, but keeps
 * the stores of one callback from the others.
 */
const onlyOne = 'deno' in process.versions ? make() : null;

/**
 * The context of the caller, or null where it has none.
 *
 * @returns {AsyncResource | null}
 */
function capture() {
  if (onlyOne !== null) return onlyOne;
  if (inUse) return make();
  if (executionAsyncResource() === root) return null;
  const resource = make();
  if (countStores(resource) === without) return null;
  inUse = true;
  return resource;
}

/** Begins a callback that has no context: a store that another callback left is not seen by it. */
function enterEmpty() {
  if (inUse) stores = {};
}

/**
 * Runs a completion's callback.
 *
 * @param {AsyncResource | null} context
 * @param {Function} callback
 * @param {Error | null} error
 * @param {unknown} buffer
 * @param {unknown} length
 */
function callback3(context, callback, error, buffer, length) {
  if (context === null) {
    enterEmpty();
    callback(error, buffer, length);
  } else {
    context.runInAsyncScope(/** @type {any} */ (callback), undefined, error, buffer, length);
  }
}

/**
 * Runs a callback that is told of an error alone.
 *
 * @param {AsyncResource | null} context
 * @param {Function} callback
 * @param {Error | null} error
 */
function callback1(context, callback, error) {
  if (context === null) {
    enterEmpty();
    callback(error);
  } else {
    context.runInAsyncScope(/** @type {any} */ (callback), undefined, error);
  }
}

/**
 * Emits an event.
 *
 * @param {AsyncResource | null} context
 * @param {import('events').EventEmitter} emitter
 * @param {string} event
 * @param {unknown} [value]
 */
function emit(context, emitter, event, value) {
  if (context === null) {
    enterEmpty();
    if (value === undefined) emitter.emit(event);
    else emitter.emit(event, value);
  } else if (value === undefined) {
    context.runInAsyncScope(emitter.emit, emitter, event);
  } else {
    context.runInAsyncScope(emitter.emit, emitter, event, value);
  }
}

module.exports = { callback1, callback3, capture, emit, root };
