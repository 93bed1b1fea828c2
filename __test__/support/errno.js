'use strict';

const { getSystemErrorMap } = require('util');

/**
 * The number of an error, as Node has it. On Windows os.constants has others.
 *
 * @param {string} code
 */
function errnoOf(code) {
  const [number] = [...getSystemErrorMap()].find(([, [name]]) => name === code);
  return number;
}

module.exports = { errnoOf };
