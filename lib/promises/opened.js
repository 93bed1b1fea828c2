'use strict';

/**
 * What opens, a connection or a server, as a promise.
 *
 * @param {import('events').EventEmitter} emitter
 * @param {string} event it is open
 * @param {() => Error | null} whyClosed the error where it is closed before; null where that was an
 *   earlier opening, and this one goes on
 * @returns {Promise<void>} fulfilled when it is open
 */
function opened(emitter, event, whyClosed) {
  return new Promise((resolve, reject) => {
    const settle = () => {
      emitter.removeListener(event, onopen);
      emitter.removeListener('error', onerror);
      emitter.removeListener('close', onclose);
    };
    const onopen = () => {
      settle();
      resolve();
    };
    const onerror = (/** @type {Error} */ error) => {
      settle();
      reject(error);
    };
    const onclose = () => {
      const error = whyClosed();
      if (error !== null) onerror(error);
    };
    emitter.on(event, onopen);
    emitter.on('error', onerror);
    emitter.on('close', onclose);
  });
}

module.exports = { opened };
