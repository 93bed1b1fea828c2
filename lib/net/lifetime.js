'use strict';

// How long a socket or server lives, where something other than its methods says so.

const { addAbortListener } = require('events');
const errors = require('../errors.js');

/**
 * What each signal does when it is aborted. It has one listener for all: Node warns of many, and
 * takes long to find one among them.
 *
 * @type {WeakMap<AbortSignal, { all: Set<Abortion>, forget: () => void }>}
 */
const listening = new WeakMap();

/** What a signal does when it is aborted, until it is forgotten. */
class Abortion {
  /**
   * @param {AbortSignal} signal
   * @param {(error: import('../errors.js').CodedError) => void} abort
   */
  constructor(signal, abort) {
    this._signal = signal;
    this._abort = abort;
    this._begun = false;
    /** Why it was aborted before it began. @type {import('../errors.js').CodedError | null} */
    this.early = null;
    if (signal.aborted) this._onabort();
    else listen(signal, this);
  }

  _onabort() {
    const error = errors.aborted(this._signal.reason);
    if (this._begun) this._abort(error);
    else this.early = error;
  }

  /**
   * Listens to a signal, before anything has begun that it is to end: what stands for one may throw.
   *
   * @param {AbortSignal | undefined} signal
   * @param {(error: import('../errors.js').CodedError) => void} abort
   * @returns {Abortion | null}
   */
  static on(signal, abort) {
    return signal === undefined ? null : new Abortion(signal, abort);
  }

  /** It has begun: where the signal was aborted already, it ends at once. */
  begin() {
    this._begun = true;
    if (this.early !== null) this._abort(this.early);
  }

  /** Whether it was aborted before it began. */
  get isEarly() {
    return this.early !== null;
  }

  forget() {
    const entry = listening.get(this._signal);
    if (entry === undefined || !entry.all.delete(this) || entry.all.size > 0) return;
    listening.delete(this._signal);
    try {
      entry.forget();
    } catch {
      // What stands for a signal may throw. That must not keep anything from its end.
    }
  }
}

/**
 * @param {AbortSignal} signal
 * @param {Abortion} abortion
 */
function listen(signal, abortion) {
  const entry = listening.get(signal);
  if (entry !== undefined) {
    entry.all.add(abortion);
    return;
  }
  const all = new Set([abortion]);
  const onabort = () => {
    listening.delete(signal);
    for (const one of all) {
      try {
        one._onabort();
      } catch (error) {
        // As from a listener of its own.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  };
  addAbortListener(signal, onabort);
  listening.set(signal, { all, forget: () => signal.removeEventListener('abort', onabort) });
}

/**
 * For `await using`: the close of an emitter, which is begun here.
 *
 * @param {import('events').EventEmitter & { closed?: boolean }} emitter
 * @param {() => void} close
 * @param {boolean} [isClosed]
 * @returns {Promise<void>}
 */
function closeOf(emitter, close, isClosed = emitter.closed) {
  if (isClosed) return Promise.resolve();
  return new Promise((resolve) => {
    emitter.once('close', () => resolve());
    close();
  });
}

module.exports = { Abortion, closeOf };
