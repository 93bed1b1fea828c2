'use strict';

// How long a socket or server lives, where something other than its methods says so.

const errors = require('../errors.js');

/** What a signal does when it is aborted, until it is forgotten. */
class Abortion {
  /**
   * @param {AbortSignal} signal
   * @param {(error: import('../errors.js').CodedError) => void} abort called at once where it is
   *   aborted already
   */
  constructor(signal, abort) {
    this._signal = signal;
    this._onabort = () => abort(errors.aborted(signal.reason));
    if (signal.aborted) this._onabort();
    else signal.addEventListener('abort', this._onabort, { once: true });
  }

  forget() {
    this._signal.removeEventListener('abort', this._onabort);
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
