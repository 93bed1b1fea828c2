'use strict';

// Callbacks run in the async context of the call that passed them: AsyncLocalStorage finds its
// store there (semantics 4). An AsyncResource per operation does that, at 75 bytes of garbage each.
// It is made only where there is something to keep.
//
// Node's stores are properties of the resource that is current (executionAsyncResource()). Every
// dispatch runs with `root` as the current resource; as long as nobody has put a store on it, an
// operation begun there has no context to keep.

const {
  AsyncLocalStorage,
  AsyncResource,
  executionAsyncId,
  executionAsyncResource,
} = require('async_hooks');

/** What the current callback has put on `root`. @type {Record<PropertyKey, unknown>} */
let stores = {};

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

const make = () => new AsyncResource('OXWIRE');

/** What Node calls the property in which a resource keeps a store, before 24. */
const STORE = 'kResourceStore';

/**
 * Whether stores are kept so. Later they are kept elsewhere (AsyncContextFrame) or, where Node is told
 * otherwise, under a name that can't be known.
 */
const isKnown =
  Number.parseInt(process.versions.node) < 24 &&
  Object.values(new AsyncLocalStorage()).some(
    (value) => typeof value === 'symbol' && value.description === STORE,
  );

/** @param {object} resource */
const hasStore = (resource) =>
  Object.getOwnPropertySymbols(resource).some(({ description }) => description === STORE);

/** Whether any store was ever met, or can't be seen: from then on every operation keeps its context. */
let inUse = !isKnown;

/**
 * In Deno a resource keeps alive the one in whose scope it was made, and that the one before, so
 * callbacks that begin operations would never be freed. One resource for all has no store, but keeps
 * the stores of one callback from the others.
 */
const onlyOne = 'deno' in process.versions ? make() : null;

/** Whether a dispatch is under way. */
let dispatching = false;

/** @param {boolean} isUnderWay */
function setDispatching(isUnderWay) {
  dispatching = isUnderWay;
}

/** Whether operations that begin now keep no context. */
let ignored = false;

/** @param {boolean} isIgnored */
function ignore(isIgnored) {
  const before = ignored;
  ignored = isIgnored;
  return before;
}

/**
 * The context of the caller, or null where it has none.
 *
 * @returns {AsyncResource | null}
 */
function capture() {
  if (ignored) return null;
  if (onlyOne !== null) return onlyOne;
  if (inUse) return make();
  // What runs in a dispatch, and not in a scope of its own, has the id of no resource. To ask for the
  // resource takes thirty times as long.
  if (dispatching && executionAsyncId() === 0) return null;
  if (executionAsyncResource() === root) return null;
  const resource = make();
  if (!hasStore(resource)) return null;
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

module.exports = { callback1, callback3, capture, emit, ignore, root, setDispatching };
