import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ask, parseAnswer } from './client.ts';

let directory: string;
let server: Server;
let path: string;
let serve: (socket: Socket) => void;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'agentiso-team-'));
  path = join(directory, 'agent.sock');
  server = createServer((socket) => serve(socket.on('error', () => {}))).listen(path);
  await once(server, 'listening');
});

afterEach(() => {
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

const answer = (status: string, body: string) => `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

it('reads an answer that comes byte by byte, and no further than it goes', () => {
  const whole = Buffer.from(answer('200 OK', '{"a":"ü"}'));
  for (let bytes = 0; bytes < whole.length; bytes += 1) expect(parseAnswer(whole.subarray(0, bytes))).toBe('incomplete');
  expect(parseAnswer(Buffer.concat([whole, Buffer.from('more')]))).toEqual({ status: 200, text: '{"a":"ü"}' });
});

it('does not wait for the end of a connection that stays open', async () => {
  serve = (socket) => socket.write(answer('200 OK', '{"a":1}'));
  expect(await ask(path, 'verb')).toEqual({ a: 1 });
});

it.each<[string, (socket: Socket) => void, string]>([
  ['hangs up', (socket) => socket.end(), 'the agent does not answer: it hung up'],
  ['hangs up in the middle', (socket) => socket.end(answer('200 OK', '{"a":1}').slice(0, -1)), 'it hung up'],
  ['is no agent', (socket) => socket.end('220 mail.example ESMTP\r\n\r\n'), 'what it says is no answer'],
  ['refuses in other words', (socket) => socket.end(answer('500 Oh', 'a\nb')), '500: a b'],
  [
    'refuses',
    (socket) => socket.end(answer('503 x', '{"code":"Unavailable","message":"not\\nnow","hint":"later"}')),
    'Unavailable: not now (later)',
  ],
])('says in one line when it %s', async (_, serveIt, message) => {
  serve = serveIt;
  await expect(ask(path, 'verb')).rejects.toThrow(message);
});

it.each([undefined, ''])('says where it works when there is no socket: %j', async (socket) => {
  await expect(ask(socket, 'verb')).rejects.toThrow('AGENTISO_SOCKET is not set');
});
