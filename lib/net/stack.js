'use strict';

// What begins or ends a connection or a server changes several things, one after the other. Where the
// stack is too short for that it throws a RangeError before the first, so that it can be tried again.

/** What the calls need, in words of 8 bytes. */
const CALLS = new Array(2048).fill(0);
/** V8 compiles a function when it is first called, and not with less than 40 KB. */
const COMPILATION = new Array(8192).fill(0);
/** How long it is taken for compiled what a connection needs, in milliseconds: to ask for more takes 5 µs. */
const WARM = 10;

function nothing() {}

/** Asks for the stack that one method needs. */
class StackCheck {
  /** @param {number} [warm] for how long what was called is taken for compiled, in milliseconds */
  constructor(warm = WARM) {
    this._warm = warm;
    this._compiled = -Infinity;
  }

  /** Throws a RangeError where too little is left of the stack: arguments lie there. */
  pass() {
    const now = Date.now();
    if (Math.abs(now - this._compiled) < this._warm) {
      Reflect.apply(nothing, undefined, CALLS);
    } else {
      Reflect.apply(nothing, undefined, COMPILATION);
      this._compiled = now;
    }
  }
}

module.exports = StackCheck;
