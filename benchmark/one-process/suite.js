'use strict';
module.exports = {
  scenarios: [],
  prepare() {},
  start: async () => {
    throw new Error('none');
  },
};
