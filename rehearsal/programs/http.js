'use strict';

// turbo-http, which depends on turbo-net, on what stands in turbo-net's place.

const http = require('node:http');
const turbo = require('turbo-http');

const server = turbo.createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.ondata = (buffer, start, length) => {
    chunks.push(Buffer.from(buffer.subarray(start, start + length)));
  };
  request.onend = () => {
    const body = Buffer.concat([Buffer.from(`${request.method} ${request.url} `), ...chunks]);
    response.setHeader('Content-Length', String(body.length));
    response.write(body);
  };
});

server.listen(0, '127.0.0.1', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  const body = 'x'.repeat(1 << 20);
  const paths = Array.from({ length: 200 }, (_, index) => `/${index}`);
  await Promise.all(paths.map((path) => expect(agent, 'GET', path, '')));
  await Promise.all(paths.slice(0, 10).map((path) => expect(agent, 'POST', path, body)));
  console.log(`210 requests answered on ${require('turbo-net/package.json').name}`);
  agent.destroy();
  server.close();
});

/** Makes a request, and expects its method, path and body in the answer. */
async function expect(agent, method, path, body) {
  const { port } = server.address();
  const answer = await new Promise((resolve, reject) => {
    const request = http.request({ agent, method, path, port, host: '127.0.0.1' }, resolve);
    request.on('error', reject).end(body);
  });
  const chunks = [];
  for await (const chunk of answer) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (text !== `${method} ${path} ${body}`) throw new Error(`wrong answer to ${method} ${path}`);
}
