'use strict';

// Operations with a callback as promises, which a signal may give up.

const asyncContext = require('../net/async-context.js');
const options = require('../net/options.js');
const { Abortion } = require('../net/lifetime.js');

/** @typedef {import('../net/connection.js')} Connection */

/** @typedef {(error?: Error | null, first?: any, second?: any) => void} Done */

/**
 * A kind of operation.
 *
 * @typedef {object} Kind
 * @property {(connection: Connection, data: any, size: any, given: any, done: Done) => void} begin
 * @property {(data: any, given: any) => void} refuse is called instead of `begin`
 * @property {(connection: Connection, done: Done) => boolean} withdraw takes it back, if it is not
 *   done; whether it did
 * @property {(first: any, second: any) => any} resultOf what `done` is told
 */

/**
 * Hot: begins an operation.
 *
 * That it failed is told to whoever awaits it, and to nobody else: a peer that goes away must not end
 * the process for a write that nobody awaits. Wrong arguments are a mistake of the program, and
 * count as any other rejection.
 *
 * @param {Kind} kind
 * @param {Connection} connection
 * @param {any} data
 * @param {any} size
 * @param {any} given options
 * @returns {Promise<any>}
 */
function operation(kind, connection, data, size, given) {
  /** @type {Promise<any>} */
  const promise = new Promise((resolve, reject) => {
    // Never called before there is a promise.
    const done = (
      /** @type {any} */ error,
      /** @type {any} */ first,
      /** @type {any} */ second,
    ) => {
      if (error) {
        handle(promise);
        reject(error);
      } else {
        resolve(kind.resultOf(first, second));
      }
    };
    const signal = options.operationSignal(given);
    if (signal !== undefined) {
      beginWithSignal(signal, kind, connection, data, size, given, done);
      return;
    }
    // Whoever awaits it goes on in a context of their own.
    const before = asyncContext.ignore(true);
    try {
      kind.begin(connection, data, size, given, done);
    } finally {
      asyncContext.ignore(before);
    }
  });
  return promise;
}

/**
 * @param {AbortSignal} signal
 * @param {Kind} kind
 * @param {Connection} connection
 * @param {any} data
 * @param {any} size
 * @param {any} given
 * @param {Done} done
 */
function beginWithSignal(signal, kind, connection, data, size, given, done) {
  /** @type {Done} */
  const end = (error, first, second) => {
    abortion.forget();
    done(error, first, second);
  };
  const abortion = new Abortion(signal, (error) => {
    // What is done, or about to be, is told as it went.
    if (kind.withdraw(connection, end)) end(error);
  });
  if (abortion.early !== null) {
    kind.refuse(data, given);
    queueMicrotask(() => done(abortion.early));
    return;
  }
  try {
    kind.begin(connection, data, size, given, end);
  } catch (error) {
    abortion.forget();
    throw error;
  }
  // It may have been aborted meanwhile, by a getter.
  if (abortion.isEarly) queueMicrotask(() => abortion.begin());
  else abortion.begin();
}

/** That it is rejected is no unhandled rejection. @param {Promise<unknown>} promise */
function handle(promise) {
  promise.catch(() => {});
}

module.exports = { operation };
