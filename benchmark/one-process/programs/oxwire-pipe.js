'use strict';

/** @param {import('../../..').Connection} socket */
function echo(socket) {
  socket.pipe(socket, onend);
}

/** @type {import('../../..').PipeCallback} */
function onend(error) {
  throw error ?? new Error('the client has ended');
}

require('./read-write')(require('../../..'), echo);
