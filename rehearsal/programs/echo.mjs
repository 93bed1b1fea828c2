import oxwire, { Connection, connect, createServer } from 'oxwire';

const server = createServer((socket) => {
  socket.read(Buffer.alloc(64), (error, buffer, bytesRead) => {
    if (error) throw error;
    socket.write(buffer, bytesRead, () => socket.close());
  });
});

server.listen(0, () => {
  const client = connect(server.address().port);
  if (!(client instanceof Connection) || oxwire.connect !== connect) throw new Error('two modules');
  client.write('hello from an ES module');
  client.read(Buffer.alloc(64), (error, buffer, bytesRead) => {
    if (error) throw error;
    console.log(buffer.toString('utf8', 0, bytesRead));
    client.close();
    server.close();
  });
});
