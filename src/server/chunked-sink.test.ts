import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { chunkedSink } from './chunked-sink.ts';
import type { Sink } from './watch-stream.ts';

let server: Server;

async function serving(work: (sink: Sink) => void): Promise<number> {
  server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    work(chunkedSink(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function bodyOf(port: number): Promise<string> {
  const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

it('gives a client the lines as they are, texts and bytes, in their order', async () => {
  const port = await serving((sink) => {
    for (const line of ['one\n', Buffer.from('zwö\n'), 'dreï\n', Buffer.from('four\n')]) sink.write(line);
    sink.end();
  });
  expect(await bodyOf(port)).toBe('one\nzwö\ndreï\nfour\n');
  expect(await bodyOf(port)).toBe('one\nzwö\ndreï\nfour\n');
});

it('ends properly, so that the connection can be used again', async () => {
  const port = await serving((sink) => {
    sink.write('x\n');
    sink.end();
  });
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    if (text.split('0\r\n\r\n').length === 2 && !text.includes('second')) socket.write('GET /second HTTP/1.1\r\nHost: a\r\n\r\n');
    if (text.split('0\r\n\r\n').length === 3) socket.end();
  });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'close');
  expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  expect(text.match(/2\r\nx\n\r\n0\r\n\r\n/g)).toHaveLength(2);
});

it('speaks plainly to a client that does not know chunks', async () => {
  const port = await serving((sink) => {
    sink.write('x\n');
    sink.end();
  });
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.write('GET / HTTP/1.0\r\n\r\n');
  await once(socket, 'close');
  expect(text.endsWith('\r\n\r\nx\n')).toBe(true);
});
