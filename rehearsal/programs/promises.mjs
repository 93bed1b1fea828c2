import { connect } from 'oxwire';
import { Connection, createServer } from 'oxwire/promises';

const server = await createServer().listen(0, '127.0.0.1');
const client = new Connection(connect(server.address().port));
await client.end('hello from promises');
for await (const connection of server) {
  for await (const chunk of connection) console.log(String(chunk));
  break;
}
await client.close();
