'use strict';

const { connect, createServer } = require('oxwire');

const server = createServer((socket) => {
  socket.read(Buffer.alloc(64), (error, buffer, bytesRead) => {
    if (error) throw error;
    socket.write(buffer, bytesRead, () => socket.close());
  });
});

server.listen(0, 'localhost', () => {
  const client = connect(server.address().port, 'localhost');
  client.write('hello from CommonJS');
  client.read(Buffer.alloc(64), (error, buffer, bytesRead) => {
    if (error) throw error;
    console.log(buffer.toString('utf8', 0, bytesRead));
    client.close();
    server.close();
  });
});
