'use strict';

// turbo-http, which depends on turbo-net, with oxwire in turbo-net's place: what real clients get
// from it, and how it takes clients that reset.
//
// It gives all responses of a connection one buffer for their headers, and so mixes these up where
// responses that are not alike wait for room in the kernel. Here either they are small, which
// oxwire copies, or their headers are the same. It never closes a connection: the program does.

const assert = require('assert');
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const net = require('net');
const path = require('path');
const { once } = require('events');
const { createRequire } = require('module');
const { test } = require('node:test');
const oxwire = require('..');
const { temporaryFolder } = require('./support/folders');
const { closed, turn, turns } = require('./support/sockets');

const ROOT = path.join(__dirname, '..');
const MODULES = path.join(ROOT, 'benchmark/node_modules');
const MB = 1 << 20;
/** Around what oxwire copies (4 KB, with the headers), and what turbo-http reads at once. */
const SIZES = [0, 1, 2, 100, 1448, 4000, 4095, 4096, 4097, 16_384, 65_535, 65_536, 65_537, MB];

/**
 * turbo-http as it is installed where turbo-net is overridden.
 *
 * @param {import('node:test').TestContext} t
 */
function load(t) {
  const folder = temporaryFolder(t);
  const modules = path.join(folder, 'node_modules');
  const packages = [
    [path.join(MODULES, 'turbo-http'), 'turbo-http'],
    [path.join(MODULES, 'http-parser-js'), 'http-parser-js'],
    [path.join(ROOT, 'packages/turbo-net'), 'turbo-net'],
  ];
  for (const [from, name] of packages) {
    fs.cpSync(from, path.join(modules, name), { recursive: true });
  }
  fs.mkdirSync(path.join(modules, 'oxwire'));
  fs.writeFileSync(
    path.join(modules, 'oxwire/index.js'),
    `module.exports = require(${JSON.stringify(ROOT)})`,
  );
  return createRequire(path.join(folder, 'program.js'))('turbo-http');
}

/** What happens when a server is about to answer a client, by the port of that. */
const beforeAnswer = new Map();

/**
 * A server that answers `/SIZE/NAME` with as many bytes as that, `/SIZE/NAME?chunks` with the same
 * in chunks, `/SIZE/NAME?quiet` without a callback, and `/echo` with the body of the request.
 *
 * @param {import('node:test').TestContext} t
 * @param {(request: any, response: any) => void} [onrequest] what it does instead
 */
async function start(t, onrequest) {
  /** How many responses were begun, how many were told to be written, and what failed. */
  const responses = { begun: 0, told: 0, codes: new Set() };
  const told = (error) => {
    responses.told++;
    if (error) responses.codes.add(error.code);
  };
  const answer = (request, response) => {
    const chunks = [];
    request.ondata = (buffer, start, length) => {
      chunks.push(Buffer.from(buffer.subarray(start, start + length)));
    };
    request.onend = () => {
      const body = request.url === '/echo' ? Buffer.concat(chunks) : bytesOf(request.url);
      beforeAnswer.get(request.socket.remotePort)?.();
      const isQuiet = request.url.endsWith('?quiet');
      if (!isQuiet) responses.begun++;
      if (request.url.endsWith('?chunks')) {
        // Without callbacks: turbo-http has its own here, to use the headers of chunks again.
        for (let i = 0; i < body.length; i += 65_536) response.write(body.subarray(i, i + 65_536));
        response.end(told);
      } else {
        response.setHeader('Content-Length', String(body.length));
        response.write(body, isQuiet ? undefined : told);
      }
    };
  };

  const server = load(t).createServer(onrequest ?? answer);
  const closings = [];
  server.on('connection', (connection) => closings.push(closed(connection)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const connection of server.connections) connection.destroy();
  });
  const { port } = server.address();
  /** All connections that there were so far have closed. */
  const allClosed = () => Promise.all(closings);
  return { server, port, responses, closings, allClosed };
}

/** @type {Map<string, Buffer>} */
const known = new Map();

/**
 * The bytes behind a URL: others for each, and without a period.
 *
 * @param {string} url
 */
function bytesOf(url) {
  const outputLength = Number(url.split('/')[1]);
  const bytes =
    known.get(url) ?? crypto.createHash('shake128', { outputLength }).update(url).digest();
  if (outputLength === MB) known.set(url, bytes); // These take their time.
  return bytes;
}

/** @param {string} url */
function requestFor(url) {
  return `GET ${url} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

/**
 * All of the response, as turbo-http writes it.
 *
 * @param {Buffer} body
 */
function responseWith(body) {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/**
 * @param {Buffer} actual
 * @param {Buffer} expected
 * @param {string} what
 */
function assertBytes(actual, expected, what) {
  assert.strictEqual(actual.length, expected.length, `the length of ${what}`);
  assert.ok(actual.equals(expected), `the bytes of ${what}`);
}

/**
 * A raw client. Its side stays open until it ends it. It takes nothing from the kernel, but what
 * fits into a small buffer, until it is to receive.
 *
 * @param {number} port
 */
async function open(port) {
  const socket = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  const chunks = socket[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  /** The next `size` bytes, or what there is before the end. */
  const receive = async (size) => {
    const parts = [rest];
    let length = rest.length;
    while (length < size) {
      const { value, done } = await chunks.next();
      if (done) break;
      parts.push(value);
      length += value.length;
    }
    const all = Buffer.concat(parts);
    rest = all.subarray(size);
    return all.subarray(0, size);
  };
  /** Receives the responses to `urls`, and nothing else. */
  const expect = async (...urls) => {
    for (const url of urls) {
      const expected = responseWith(bytesOf(url));
      assertBytes(await receive(expected.length), expected, `the response to ${url}`);
    }
  };
  /** Ends our side, if that is still to be done, and receives the end of the other and no byte. */
  const expectEnd = async () => {
    socket.end();
    assert.strictEqual((await receive(Infinity)).length, 0);
  };
  return { socket, receive, expect, expectEnd };
}

/**
 * A request by node:http.
 *
 * @param {http.RequestOptions} options
 * @param {Array<Buffer | string>} [body] its chunks; a single one has its length announced
 * @returns {Promise<{ status: number, headers: http.IncomingHttpHeaders, body: Buffer }>}
 */
async function ask(options, body = []) {
  const request = http.request({ host: '127.0.0.1', ...options });
  for (const chunk of body.slice(0, -1)) request.write(chunk);
  request.end(body.at(-1));
  const [response] = await once(request, 'response');
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: Buffer.concat(chunks),
  };
}

/**
 * @param {import('node:test').TestContext} t
 * @param {number} maxSockets
 */
function keepAliveAgent(t, maxSockets) {
  const agent = new http.Agent({ keepAlive: true, maxSockets });
  t.after(() => agent.destroy());
  return agent;
}

/** @param {number} count @param {number} size */
function urls(count, size) {
  return Array.from({ length: count }, (_, index) => `/${size}/${index}`);
}

test('its servers and connections are those of oxwire', async (t) => {
  const { server, port } = await start(t);
  assert.ok(server instanceof oxwire.Server);
  const client = await open(port);
  client.socket.write(requestFor('/5/class'));
  await client.expect('/5/class');
  assert.ok(server.connections[0] instanceof oxwire.Connection);
  await client.expectEnd();
});

test('bodies of 0 B to 1 MB arrive byte for byte over one connection that is kept', async (t) => {
  const { port, closings } = await start(t);
  const agent = keepAliveAgent(t, 1);
  for (let round = 0; round < 10; round++) {
    for (const size of SIZES) {
      const url = `/${size}/${round}`;
      const { status, headers, body } = await ask({ port, agent, path: url });
      assert.strictEqual(status, 200);
      assert.strictEqual(headers['content-length'], String(size));
      assert.strictEqual(headers.connection, 'keep-alive');
      assertBytes(body, bytesOf(url), url);
    }
  }
  assert.strictEqual(closings.length, 1);
});

test('50 connections at once are each answered with their own bytes', async (t) => {
  const { port, closings } = await start(t);
  const agent = keepAliveAgent(t, 50);
  await Promise.all(
    Array.from({ length: 2000 }, async (_, index) => {
      const url = `/${SIZES[index % (SIZES.length - 1)]}/${index}`;
      const { body } = await ask({ port, agent, path: url });
      assertBytes(body, bytesOf(url), url);
    }),
  );
  assert.strictEqual(closings.length, 50);
});

test('the body of a request comes byte for byte, with a length or in chunks', async (t) => {
  const { port, closings } = await start(t);
  const agent = keepAliveAgent(t, 1);
  for (const method of ['POST', 'PUT', 'PATCH']) {
    for (const size of SIZES) {
      const sent = bytesOf(`/${size}/${method}`);
      const whole = await ask({ port, agent, method, path: '/echo' }, [sent]);
      assertBytes(whole.body, sent, `${method} with a length`);
      const middle = size >> 1;
      const parts = [sent.subarray(0, middle), sent.subarray(middle)];
      const chunked = await ask({ port, agent, method, path: '/echo' }, parts);
      assertBytes(chunked.body, sent, `${method} in chunks`);
    }
  }
  assert.strictEqual(closings.length, 1);
});

test('whichever way a response is written, it arrives byte for byte', async (t) => {
  const body = bytesOf('/200000/body');
  // The buffers are longer than what is written of them. (turbo-http takes an empty chunk for the
  // last, so there is none.)
  const longer = (start, end) => Buffer.concat([body.subarray(start, end), Buffer.from('more')]);
  const [a, b, c] = [longer(0, 10), longer(10, 5000), longer(5000)];
  const [m, n, o] = [10, 4990, 195_000];
  const known = (response) => response.setHeader('Content-Length', String(body.length));
  const ways = {
    '/write': (response) => (known(response), response.write(body)),
    '/writes': (response) => {
      known(response);
      response.write(a, m);
      response.write(b, n);
      response.write(c, o);
    },
    '/writev': (response) => (known(response), response.writev([a, b, c], [m, n, o])),
    '/end': (response) => response.end(body),
    '/endv': (response) => response.endv([a, b, c], [m, n, o]),
    '/chunks': (response) => {
      response.write(a, m);
      response.write(b, n);
      response.write(c, o);
      response.end();
    },
    '/chunks-endv': (response) => {
      response.writev([a, b], [m, n], () => {});
      response.endv([c], [o]);
    },
    '/chunks-writev': (response) => {
      response.write(a, m);
      response.writev([b, c], [n, o], () => response.end());
    },
  };
  const { port } = await start(t, (request, response) => ways[request.url](response));
  const agent = keepAliveAgent(t, 1);
  for (let round = 0; round < 5; round++) {
    for (const way of Object.keys(ways)) {
      const response = await ask({ port, agent, path: way });
      assertBytes(response.body, body, way);
      assert.strictEqual('transfer-encoding' in response.headers, way.startsWith('/chunks'));
    }
  }
});

test('method, URL, headers and status come through', async (t) => {
  const { port } = await start(t, (request, response) => {
    response.statusCode = Number(request.getHeader('X-Status'));
    response.setHeader('X-Method', request.method);
    response.setHeader('X-URL', request.url);
    response.setHeader('X-Long', request.getHeader('X-LONG'));
    response.end();
  });
  const agent = keepAliveAgent(t, 1);
  const long = 'long'.repeat(3000);
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST']) {
    for (const status of [200, 201, 404, 500]) {
      const url = `/${method}?status=${status}`;
      const headers = { 'x-status': status, 'x-long': long };
      const response = await ask({ port, agent, method, path: url, headers });
      assert.strictEqual(response.status, status);
      assert.strictEqual(response.headers['x-method'], method);
      assert.strictEqual(response.headers['x-url'], url);
      assert.strictEqual(response.headers['x-long'], long);
    }
  }
});

test('64 requests in one packet are answered in order', async (t) => {
  const { port } = await start(t);
  const client = await open(port);
  const all = Array.from({ length: 64 }, (_, index) => `/${index * 3}/${index}`);
  for (let round = 0; round < 20; round++) {
    client.socket.write(all.map(requestFor).join(''));
    await client.expect(...all);
  }
  await client.expectEnd();
});

test('with 64 requests always in flight, responses stay in order', async (t) => {
  const { port } = await start(t);
  const client = await open(port);
  const all = Array.from({ length: 2000 }, (_, index) => `/${(index * 37) % 3900}/${index}`);
  client.socket.write(all.slice(0, 64).map(requestFor).join(''));
  let sent = 64;
  for (const url of all) {
    await client.expect(url);
    if (sent < all.length) client.socket.write(requestFor(all[sent++]));
  }
  await client.expectEnd();
});

test('pipelined requests with bodies that no single read holds are answered in order', async (t) => {
  const { port } = await start(t);
  const client = await open(port);
  const bodies = urls(30, 20_000).map(bytesOf);
  const head = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n';
  client.socket.write(Buffer.concat(bodies.flatMap((body) => [Buffer.from(head), body])));
  for (const [index, body] of bodies.entries()) {
    const expected = responseWith(body);
    assertBytes(await client.receive(expected.length), expected, `response ${index}`);
  }
  await client.expectEnd();
});

const late = {
  'large responses': urls(24, MB),
  'small responses, unlike each other,': Array.from(
    { length: 6000 },
    (_, index) => `/${3000 + (index % 900)}/${index}`,
  ),
};
for (const [what, all] of Object.entries(late)) {
  test(`${what} that wait for a client which reads late stay in order`, async (t) => {
    const { server, port, responses } = await start(t);
    const client = await open(port);
    client.socket.write(all.map(requestFor).join(''));
    while (responses.begun < all.length) await once(server, 'request');
    await turns();
    assert.ok(responses.told < all.length, 'the kernel has no room for all');
    await client.expect(...all);
    await client.expectEnd();
    assert.strictEqual(responses.told, all.length);
    assert.deepStrictEqual([...responses.codes], []);
  });
}

test('a request may be cut anywhere', async (t) => {
  const { port } = await start(t);
  const client = await open(port);
  const first = requestFor('/7/first');
  const chunks = '5\r\nhello\r\nb\r\n wide world\r\n0\r\n\r\n';
  const requests = [
    [requestFor('/9/second'), responseWith(bytesOf('/9/second'))],
    [
      'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\nhello world',
      responseWith(Buffer.from('hello world')),
    ],
    [
      `POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: localhost\r\n\r\n${chunks}`,
      responseWith(Buffer.from('hello wide world')),
    ],
  ];
  for (const [request, expected] of /** @type {[string, Buffer][]} */ (requests)) {
    for (let cut = 0; cut <= request.length; cut++) {
      // What comes in a packet with the first request was read when that is answered.
      client.socket.write(first + request.slice(0, cut));
      await client.expect('/7/first');
      client.socket.write(request.slice(cut) + first);
      const what = `the response to ${request.slice(0, 9)}…, cut at ${cut}`;
      assertBytes(await client.receive(expected.length), expected, what);
      await client.expect('/7/first');
    }
  }
  await client.expectEnd();
});

test('requests may come byte by byte', async (t) => {
  const { port } = await start(t);
  const client = await open(port);
  const all = urls(5, 10);
  for (const byte of all.map(requestFor).join('')) {
    client.socket.write(byte);
    await turn();
  }
  await client.expect(...all);
  await client.expectEnd();
});

test('a client that ends its side after its request gets all of the response', async (t) => {
  const { server, port, allClosed } = await start(t);
  for (const size of SIZES) {
    const client = await open(port);
    client.socket.end(requestFor(`/${size}/half`));
    await client.expect(`/${size}/half`);
    await client.expectEnd();
  }
  await allClosed();
  assert.deepStrictEqual(server.connections, []);
});

test('a client that ends its side after many requests gets all of the responses', async (t) => {
  const { server, port, responses, allClosed } = await start(t);
  for (const all of [urls(64, 50), urls(24, MB)]) {
    const client = await open(port);
    client.socket.end(all.map(requestFor).join(''));
    await client.expect(...all);
    await client.expectEnd();
  }
  await allClosed();
  assert.deepStrictEqual(server.connections, []);
  assert.deepStrictEqual([...responses.codes], []);
});

test('a client that ends its side within a request is ended, and gets no response', async (t) => {
  const { server, port, responses, allClosed } = await start(t);
  const request = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello';
  for (let cut = 0; cut < request.length; cut++) {
    const client = await open(port);
    client.socket.end(request.slice(0, cut));
    await client.expectEnd();
  }
  await allClosed();
  assert.deepStrictEqual(server.connections, []);
  assert.strictEqual(responses.begun, 0);
});

test('with allowHalfOpen, a response that is late for the end of the client arrives', async (t) => {
  const { server, port, allClosed } = await start(t, (request, response) => {
    request.socket.on('end', () => {
      response.end(bytesOf(request.url));
      request.socket.end();
    });
  });
  server.allowHalfOpen = true;
  for (const size of SIZES) {
    const client = await open(port);
    client.socket.end(requestFor(`/${size}/late`));
    await client.expect(`/${size}/late`);
    await client.expectEnd();
  }
  await allClosed();
  assert.deepStrictEqual(server.connections, []);
});

// turbo-http leaves it to the program to close: at once, or when the response was written.
const closers = {
  ends: (request, response) => {
    response.end(bytesOf(request.url));
    request.socket.end();
  },
  closes: (request, response) => {
    response.end(bytesOf(request.url), () => request.socket.close());
  },
};
for (const [what, close] of Object.entries(closers)) {
  const onrequest = (request, response) => {
    assert.strictEqual(request.getHeader('connection'), 'close');
    response.setHeader('Connection', 'close');
    close(request, response);
  };

  test(`a program that ${what} a connection after its response loses no byte`, async (t) => {
    const { server, port, allClosed } = await start(t, onrequest);
    for (const size of SIZES) {
      const client = await open(port);
      client.socket.write(`GET /${size}/last HTTP/1.1\r\nConnection: close\r\n\r\n`);
      const received = await client.receive(Infinity);
      const body = received.subarray(received.indexOf('\r\n\r\n') + 4);
      assertBytes(body, bytesOf(`/${size}/last`), `${size} B, and the end`);
      await client.expectEnd();
    }
    await allClosed();
    assert.deepStrictEqual(server.connections, []);
  });

  test(`an agent opens another connection where the program ${what} the first`, async (t) => {
    const { server, port, closings, allClosed } = await start(t, onrequest);
    const agent = keepAliveAgent(t, 1);
    for (const size of SIZES) {
      const options = { port, agent, path: `/${size}/last`, headers: { connection: 'close' } };
      const { headers, body } = await ask(options);
      assert.strictEqual(headers.connection, 'close');
      assertBytes(body, bytesOf(options.path), options.path);
    }
    await allClosed();
    assert.strictEqual(closings.length, SIZES.length);
    assert.deepStrictEqual(server.connections, []);
  });
}

/** What a client does before it resets, by when that is. */
const stages = {
  'right after connecting': () => {},
  'between two requests': (client) => beginRequest(client, ''),
  'within the request line': (client) => beginRequest(client, 'GET /1/li'),
  'within the headers': (client) => beginRequest(client, 'GET /1/name HTTP/1.1\r\nHost: lo'),
  'within the body of a request': (client) =>
    beginRequest(client, 'POST /echo HTTP/1.1\r\nContent-Length: 20\r\n\r\nhello'),
  'right after a request': (client) => {
    client.socket.write(requestFor(`/${MB}/reset`));
  },
  'while a response of 1 MB is written': (client) => beginResponse(client, [`/${MB}/reset`]),
  'while a response in chunks is written': (client) =>
    beginResponse(client, new Array(16).fill(`/${MB}/reset?chunks`)),
  'right after 64 requests': (client) => {
    client.socket.write(urls(64, 1000).map(requestFor).join(''));
  },
  'with 64 requests of 1 MB each in flight': (client) =>
    beginResponse(client, new Array(64).fill(`/${MB}/reset`)),
  'as 64 requests are answered': (client) => resetAt(client, urls(64, 1000)),
  'as 64 requests are answered without callbacks': (client) =>
    resetAt(client, new Array(64).fill('/5000/reset?quiet')),
  'as 64 requests are answered in chunks': (client) =>
    resetAt(client, new Array(64).fill('/5000/reset?chunks')),
};

/** The server has read a whole request and the beginning of the next. */
async function beginRequest(client, begun) {
  client.socket.write(requestFor('/3/whole') + begun);
  await client.expect('/3/whole');
}

/** The server has begun to write. */
async function beginResponse(client, requested) {
  client.socket.write(requested.map(requestFor).join(''));
  assert.strictEqual((await client.receive(1)).toString(), 'H');
}

/** The server has read all requests and answered one, and is answering the next. */
async function resetAt(client, requested) {
  const { socket } = client;
  const { localPort } = socket;
  let answers = 0;
  beforeAnswer.set(localPort, () => ++answers === 2 && socket.resetAndDestroy());
  socket.write(requested.map(requestFor).join(''));
  await once(socket, 'close');
  beforeAnswer.delete(localPort);
}

/**
 * Lets clients reset, 20 at a time, and sees that the server is none the worse for it.
 *
 * @param {import('node:test').TestContext} t
 * @param {Array<keyof typeof stages>} resets the stage of each client
 */
async function expectToSurvive(t, resets) {
  const exceptions = [];
  const onexception = (error) => exceptions.push(error);
  process.on('uncaughtExceptionMonitor', onexception);
  t.after(() => process.off('uncaughtExceptionMonitor', onexception));
  const { server, port, responses, closings, allClosed } = await start(t);
  const expectAnswer = async () => {
    const client = await open(port);
    client.socket.write(requestFor('/4097/alive'));
    await client.expect('/4097/alive');
    await client.expectEnd();
    await allClosed();
  };

  await expectAnswer();
  const before = descriptors();
  for (let done = 0; done < resets.length; done += 20) {
    await Promise.all(
      resets.slice(done, done + 20).map(async (stage) => {
        const client = await open(port);
        const over = closed(client.socket);
        await stages[stage](client);
        client.socket.resetAndDestroy();
        await over;
      }),
    );
  }
  // It is accepted after all others.
  await expectAnswer();

  assert.deepStrictEqual(exceptions, []);
  assert.ok(closings.length > 2);
  assert.deepStrictEqual(server.connections, []);
  assert.strictEqual(descriptors(), before);
  assert.strictEqual(responses.told, responses.begun, 'each response is told to be written, once');
  for (const code of responses.codes) assert.match(code, /^(ECONNRESET|EPIPE)$/);
  // What comes back twice would be used by two connections.
  for (const pool of [server._pool, server._smallPool]) {
    assert.strictEqual(new Set(pool).size, pool.length);
  }
  return responses;
}

function descriptors() {
  return fs.readdirSync('/dev/fd').length;
}

for (const stage of /** @type {Array<keyof typeof stages>} */ (Object.keys(stages))) {
  test(`20 clients that reset ${stage} leave nothing behind`, async (t) => {
    await expectToSurvive(t, new Array(20).fill(stage));
  });
}

test('200 clients that reset, at all stages side by side, leave nothing behind', async (t) => {
  const all = /** @type {Array<keyof typeof stages>} */ (Object.keys(stages));
  await expectToSurvive(
    t,
    Array.from({ length: 200 }, (_, index) => all[index % all.length]),
  );
});

test('responses that a reset cuts off are told so', async (t) => {
  const { codes } = await expectToSurvive(t, ['with 64 requests of 1 MB each in flight']);
  assert.strictEqual(codes.size, 1);
});

test('while clients reset, others are answered', async (t) => {
  const { port } = await start(t);
  const agent = keepAliveAgent(t, 4);
  const all = Object.values(stages);
  const resetting = (async () => {
    for (let index = 0; index < 100; index++) {
      const client = await open(port);
      await all[index % all.length](client);
      client.socket.resetAndDestroy();
    }
  })();
  const answered = urls(200, 30_000).map(async (url) => {
    const { body } = await ask({ port, agent, path: url });
    assertBytes(body, bytesOf(url), url);
  });
  await Promise.all([resetting, ...answered]);
});
