'use strict';

// Run with --expose-gc: echoes, both ends in this process and no callback made per message, and how
// much heap each took: what is there afterwards, and what was collected meanwhile.

const { GCProfiler } = require('v8');
const oxwire = require('../..');

const COUNT = Number(process.argv[2]);
const CONNECTIONS = 50;

const server = oxwire.createServer((connection) => {
  const onwrite = () => connection.read(buffer, onread);
  const onread = (error, _buffer, length) => {
    if (!error && length > 0) connection.write(buffer, length, onwrite);
  };
  const buffer = Buffer.alloc(1024);
  connection.read(buffer, onread);
});

server.listen(0, '127.0.0.1', () => {
  let left = 0;
  let connected = 0;
  const goOn = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const client = oxwire.connect(server.address().port);
    const message = Buffer.alloc(64, i);
    const buffer = Buffer.alloc(1024);
    const onread = () => {
      if (--left > 0) send();
      else if (left === 0) finished();
    };
    const send = () => {
      client.write(message);
      client.read(buffer, onread);
    };
    goOn.push(send);
    client.on('connect', () => ++connected === CONNECTIONS && measure());
  }

  let finished = () => {};
  /** @param {number} count */
  const run = (count) =>
    new Promise((resolve) => {
      left = count;
      finished = () => setImmediate(resolve);
      for (const send of goOn) send();
    });

  async function measure() {
    await run(50_000); // Until the compiler is done.
    /** @type {any} */ (globalThis).gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const profiler = new GCProfiler();
    profiler.start();
    const before = process.memoryUsage().heapUsed;
    await run(COUNT);
    let allocated = process.memoryUsage().heapUsed - before;
    for (const { beforeGC, afterGC } of profiler.stop().statistics) {
      allocated += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
    }
    const bytesPerEcho = allocated / COUNT;
    console.log(JSON.stringify({ bytesPerEcho }));
    process.exit();
  }
});
