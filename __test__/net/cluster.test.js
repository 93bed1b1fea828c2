'use strict';

// Servers in the workers of a cluster, each cluster in processes of its own.

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { spawn } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const { temporaryFolder } = require('../support/folders');
const { freePort } = require('../support/sockets');

const ROOT = JSON.stringify(path.join(__dirname, '../..'));
const canSharePorts = ['linux', 'freebsd'].includes(process.platform);

/**
 * Runs a cluster of two workers and gives what its primary prints.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} primary
 * @param {string} worker
 */
async function runCluster(t, primary, worker) {
  const file = path.join(temporaryFolder(t), 'cluster.js');
  const script = `
    const cluster = require('cluster');
    const net = require('net');
    const oxwire = require(${ROOT});
    if (cluster.isPrimary) {
      const workers = [cluster.fork(), cluster.fork()];
      ${primary}
    } else {
      ${worker}
    }`;
  fs.writeFileSync(file, script);
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const limit = setTimeout(() => child.kill(), 20_000);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  clearTimeout(limit);
  assert.strictEqual(code, 0, output);
  return output;
}

test(
  'the workers of a cluster share a port, and each answers',
  { skip: !canSharePorts },
  async (t) => {
    const port = await freePort();
    const primary = `
    const seen = new Set();
    let listening = 0;
    cluster.on('listening', (worker, address) => {
      if (address.port !== ${port} || address.address !== '127.0.0.1') throw address;
      if (++listening === 2) ask();
    });
    function ask() {
      oxwire.connect(${port}).on('error', (error) => { throw error; }).read(Buffer.alloc(10), (error, buffer, count) => {
        seen.add(buffer.toString('utf8', 0, count));
        if (seen.size < 2) return ask();
        console.log('both');
        for (const worker of workers) worker.kill();
      });
    }`;
    const worker = `
    oxwire.createServer((peer) => peer.end(String(cluster.worker.id))).listen(${port}, '127.0.0.1');`;
    assert.strictEqual(await runCluster(t, primary, worker), 'both\n');
  },
);

test(
  'a worker that is disconnected listens no more, and ends',
  { skip: !canSharePorts },
  async (t) => {
    const port = await freePort();
    const primary = `
    let listening = 0;
    cluster.on('listening', () => {
      if (++listening < 2) return;
      cluster.disconnect(() => {
        net.connect(${port}, '127.0.0.1').on('error', (error) => console.log(error.code));
      });
    });
    cluster.on('exit', (worker, code) => console.log('exit', code));`;
    const worker = `
    const server = oxwire.createServer().listen(${port}, '127.0.0.1');
    oxwire.createServer().listen(0, () => {}).close();`;
    const lines = (await runCluster(t, primary, worker)).trim().split('\n');
    assert.deepStrictEqual(lines.sort(), ['ECONNREFUSED', 'exit 0', 'exit 0']);
  },
);

test('with port 0 each worker has a port of its own', async (t) => {
  const primary = `
    const ports = new Set();
    cluster.on('listening', (worker, { port }) => {
      ports.add(port);
      if (ports.size === 2) for (const worker of workers) worker.kill();
    });
    cluster.on('exit', () => Object.keys(cluster.workers).length === 0 && console.log(ports.size));`;
  const worker = `oxwire.createServer().listen(0, '127.0.0.1');`;
  assert.strictEqual(await runCluster(t, primary, worker), '2\n');
});

test('a port that is not to be shared is that of one worker alone', async (t) => {
  const port = await freePort();
  const primary = `
    const codes = [];
    for (const worker of workers) {
      worker.on('message', (code) => {
        codes.push(code);
        if (codes.length === 2) {
          console.log(codes.sort().join());
          for (const worker of workers) worker.kill();
        }
      });
    }`;
  const worker = `
    oxwire.createServer()
      .on('error', (error) => process.send(error.code))
      .listen({ port: ${port}, host: '127.0.0.1', exclusive: true }, () => process.send('listens'));`;
  assert.strictEqual(await runCluster(t, primary, worker), 'EADDRINUSE,listens\n');
});
