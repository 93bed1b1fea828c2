'use strict';

// The registry of a rehearsal, in a process of its own: verdaccio on a free port of 127.0.0.1, with
// the packages that are published to it and no others. It tells its address to the process that
// started it, and ends with that process.
//
//   fork('registry.js', [an empty folder])

const fs = require('node:fs');
const path = require('node:path');
const { runServer } = require('verdaccio');

const everybody = { access: '$all', publish: '$anonymous' };

/** @param {string} folder where it keeps everything */
async function main(folder) {
  const config = path.join(folder, 'config.yaml');
  // JSON is YAML.
  fs.writeFileSync(
    config,
    JSON.stringify({
      storage: path.join(folder, 'storage'),
      uplinks: {},
      packages: { '@*/*': everybody, '**': everybody },
      max_body_size: '100mb',
      web: { enable: false },
      log: { type: 'stdout', format: 'pretty', level: 'warn' },
    }),
  );
  const server = await runServer(config);
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${server.address().port}/`);
  });
}

process.on('disconnect', () => process.exit());
void main(process.argv[2]);
