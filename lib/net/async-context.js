'use strict';

// Callbacks run in the async context of the call that passed them: AsyncLocalStorage finds its
// store there (semantics 4).
//
// Node's stores are properties of the resource that is current (executionAsyncResource()). Every
// dispatch runs with `root` as the current resource, and `root` has the stores of the callback that
// runs. So to keep a context is to keep an object with the stores, which costs next to nothing. Where
// stores are kept elsewhere (AsyncContextFrame) it is an AsyncResource for each operation.

const {
  AsyncLocalStorage,
  AsyncResource,
  executionAsyncId,
  executionAsyncResource,
} = require('async_hooks');

/**
 * Stores by their symbols; what is here is never changed.
 *
 * @typedef {Record<PropertyKey, unknown>} Stores
 */

/** A context that was kept. @typedef {AsyncResource | Stores | null} Context */

/** @type {Stores} */
const NONE = Object.freeze({});

/** The stores of the current callback. */
let stores = NONE;

/** `this`, and the current resource, of every dispatch. */
const root = new Proxy(
  {},
  {
    get: (_target, key) => stores[/** @type {string} */ (key)],
    set(_target, key, value) {
      stores = { ...stores, [key]: value }; // Operations may have kept them as they were.
      return true;
    },
  },
);

const make = () => new AsyncResource('OXWIRE');

/**
 * What Node calls the property in which a resource keeps a store. It is undefined where stores are
 * kept elsewhere.
 */
const STORE = (() => {
  const probe = new AsyncLocalStorage();
  const store = {};
  const resource = /** @type {any} */ (probe.run(store, make));
  probe.disable();
  const symbols = Object.getOwnPropertySymbols(resource);
  return symbols.find((symbol) => resource[symbol] === store)?.description;
})();

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

/**
 * The context of the caller, or null where it has no store.
 *
 * @returns {Context}
 */
function capture() {
  if (onlyOne !== null) return onlyOne;
  if (STORE === undefined) return make();
  // What runs in a dispatch, and not in a scope of its own, has the id of no resource. To ask for the
  // resource takes thirty times as long.
  if (dispatching && executionAsyncId() === 0) return stores === NONE ? null : stores;
  return storesOf(/** @type {any} */ (executionAsyncResource()));
}

/**
 * The stores of a resource, or null where it has none.
 *
 * @param {Record<PropertyKey, unknown>} resource
 * @returns {Stores | null}
 */
function storesOf(resource) {
  if (resource === root) return stores === NONE ? null : stores;
  /** @type {Stores | null} */
  let kept = null;
  for (const symbol of Object.getOwnPropertySymbols(resource)) {
    if (symbol.description !== STORE || resource[symbol] === undefined) continue;
    kept ??= {};
    kept[symbol] = resource[symbol];
  }
  return kept;
}

/**
 * Runs a completion's callback.
 *
 * @param {Context} context
 * @param {Function} callback
 * @param {Error | null} error
 * @param {unknown} buffer
 * @param {unknown} length
 */
function callback3(context, callback, error, buffer, length) {
  if (context instanceof AsyncResource) {
    context.runInAsyncScope(/** @type {any} */ (callback), undefined, error, buffer, length);
  } else {
    stores = context ?? NONE;
    callback(error, buffer, length);
  }
}

/**
 * Runs a callback that is told of an error alone.
 *
 * @param {Context} context
 * @param {Function} callback
 * @param {Error | null} error
 */
function callback1(context, callback, error) {
  if (context instanceof AsyncResource) {
    context.runInAsyncScope(/** @type {any} */ (callback), undefined, error);
  } else {
    stores = context ?? NONE;
    callback(error);
  }
}

/**
 * A resource with the stores of a context, for what does not run in a dispatch.
 *
 * @param {Stores | null} context
 */
function scopeOf(context) {
  const scope = /** @type {any} */ (make());
  for (const symbol of Object.getOwnPropertySymbols(storesOf(scope) ?? NONE)) {
    scope[symbol] = undefined; // That of whoever calls.
  }
  return Object.assign(scope, context);
}

/**
 * Emits an event.
 *
 * @param {Context} context
 * @param {import('events').EventEmitter} emitter
 * @param {string} event
 * @param {unknown} [value]
 */
function emit(context, emitter, event, value) {
  const scope = dispatching || context instanceof AsyncResource ? context : scopeOf(context);
  if (!(scope instanceof AsyncResource)) {
    stores = scope ?? NONE;
    if (value === undefined) emitter.emit(event);
    else emitter.emit(event, value);
  } else if (value === undefined) {
    scope.runInAsyncScope(emitter.emit, emitter, event);
  } else {
    scope.runInAsyncScope(emitter.emit, emitter, event, value);
  }
}

module.exports = { callback1, callback3, capture, emit, root, setDispatching };
