'use strict';

// Every test runs with each driver. Where sockets are watched on another thread, what becomes ready
// is seen a little later, and not all at once.

const inLoop = process.env.OXWIRE_DRIVER !== 'tokio' && process.platform !== 'win32';

module.exports = { inLoop };
