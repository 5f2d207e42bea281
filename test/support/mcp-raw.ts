/** MCP without a client: lines over the private socket or a program's pipes, and plain requests at `/mcp`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { vi } from 'vitest';
import { socketPath } from '#lib/socket-path.ts';

export const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');

export interface RawMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface RawLines {
  readonly messages: readonly RawMessage[];
  /** As it is, newline added. */
  line(text: string): void;
  send(message: object): void;
  /** Waits for what answers this id. */
  answer(id: number | string | null): Promise<RawMessage>;
}

export function rawSocket(home: string): RawLines & { readonly closed: Promise<void>; close(): void } {
  const socket = connect({ path: socketPath(join(home, 'mcp.sock')).path });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return { ...rawLines(socket, socket), closed, close: () => void socket.destroy() };
}

/** `agentiso mcp`. */
export function rawProgram(
  home: string,
): RawLines & { readonly child: ChildProcess; readonly ended: Promise<{ code: number | null; stderr: string }>; end(): void } {
  const child = spawn(process.execPath, [PROGRAM, 'mcp', '--home', home], { stdio: 'pipe' });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => child.on('close', (code) => resolve({ code, stderr })));
  return { ...rawLines(child.stdout, child.stdin), child, ended, end: () => void child.stdin.end() };
}

function rawLines(input: Readable, output: Writable): RawLines {
  const messages: RawMessage[] = [];
  let rest = '';
  input.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) messages.push(JSON.parse(line) as RawMessage);
  });
  const line = (text: string) => void output.write(`${text}\n`);
  return {
    messages,
    line,
    send: (message) => line(JSON.stringify({ jsonrpc: '2.0', ...message })),
    answer: (id) =>
      vi.waitFor(() => messages.find((message) => message.id === id && !message.method) ?? missing(id), { timeout: 20_000, interval: 10 }),
  };
}

function missing(id: number | string | null): never {
  throw new Error(`nothing answers ${id} yet`);
}

export function initialize(id: number | string, protocolVersion = '2025-11-25'): object {
  return { id, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } } };
}
