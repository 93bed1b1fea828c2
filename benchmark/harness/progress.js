'use strict';

/**
 * Says what is going on, on standard error: on a terminal in one line that is overwritten, else
 * only the steps, a line each.
 */
class Progress {
  /** @param {NodeJS.WriteStream} [stream] */
  constructor(stream = process.stderr) {
    this.stream = stream;
  }

  /**
   * Something that takes a while.
   *
   * @param {string} text
   */
  step(text) {
    if (this.stream.isTTY) this.show(text);
    else this.stream.write(`${text}\n`);
  }

  /**
   * Something of interest only to those who watch.
   *
   * @param {string} text
   */
  show(text) {
    if (!this.stream.isTTY) return;
    this.clear();
    this.stream.write(text.slice(0, this.stream.columns - 1));
  }

  clear() {
    if (!this.stream.isTTY) return;
    this.stream.cursorTo(0);
    this.stream.clearLine(1);
  }
}

module.exports = { Progress };
