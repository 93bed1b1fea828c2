'use strict';

// The life of a connection, as small integers.

module.exports = {
  // Its states.
  CONNECTING: 0,
  OPEN: 1,
  /** It is in a pipe: its bytes move, or will, without JavaScript. */
  PIPED: 2,
  /** The descriptor is closed; callbacks are still due. */
  CLOSING: 3,
  CLOSED: 4,
  NAMES: ['connecting', 'open', 'piped', 'closing', 'closed'],

  // Its steps: what happens between callbacks, in their order.
  /** Our side is ended. */
  FINISH: 1,
  /** The peer's side is ended, and every read was told. */
  PEER_END: 2,
  /** Connecting failed; nobody was told yet. */
  CONNECT_FAILED: 3,
  /** Connecting failed, and whatever was queued was told. */
  CONNECT_ERROR: 4,
  /** Something failed, and no callback took the error. */
  UNHEARD_ERROR: 5,
  /** Nothing is pending any more but reads and the callbacks of close(). */
  CLOSE: 6,
  /** Everything else was said. */
  CLOSE_EVENT: 7,
  /** So much had waited that `drain` is to tell that nothing does. */
  DRAIN: 8,
  /** In a pipe the peer's side has ended, or ours has. */
  END_EVENT: 9,
  FINISH_EVENT: 10,
};
