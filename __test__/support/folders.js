'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');

/**
 * A folder outside of the repository, which is gone after the test.
 *
 * @param {import('node:test').TestContext} t
 * @returns {string}
 */
function temporaryFolder(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oxwire-test-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

module.exports = { temporaryFolder };
