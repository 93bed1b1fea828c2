'use strict';

// How long a socket or server lives, where something other than its methods says so.

const { addAbortListener } = require('events');
const errors = require('../errors.js');

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
    this._early = null;
    this._onabort = () => {
      const error = errors.aborted(signal.reason);
      if (this._begun) abort(error);
      else this._early = error;
    };
    if (signal.aborted) this._onabort();
    else addAbortListener(signal, this._onabort);
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
    if (this._early !== null) this._abort(this._early);
  }

  /** Whether it was aborted before it began. */
  get isEarly() {
    return this._early !== null;
  }

  forget() {
    try {
      this._signal.removeEventListener('abort', this._onabort);
    } catch {
      // What stands for a signal may throw. That must not keep anything from its end.
    }
  }
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
