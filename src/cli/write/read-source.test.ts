import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSource } from './read-source.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'read-source-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function pipe(): string {
  const path = join(folder, 'pipe');
  spawnSync('mkfifo', [path]);
  return path;
}

describe('readSource', () => {
  it('reads a file', async () => {
    const path = join(folder, 'a.yaml');
    writeFileSync(path, 'kind: Team\n');
    expect(String(await readSource(path))).toBe('kind: Team\n');
  });

  it('reads a named pipe to its end, whenever the writer comes', async () => {
    const path = pipe();
    const text = 'x'.repeat(200_000);
    const reading = readSource(path);
    const writer = spawn('sh', ['-c', 'printf a; cat; printf z'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const shell = spawn('sh', ['-c', `exec cat > '${path}'`], { stdio: ['pipe', 'inherit', 'inherit'] });
    writer.stdout.pipe(shell.stdin);
    writer.stdin.end(text);
    expect(String(await reading)).toBe(`a${text}z`);
    if (shell.exitCode === null) await once(shell, 'exit');
  });

  it('lets go of a pipe that nobody writes to', async () => {
    const stopping = new AbortController();
    const reading = readSource(pipe(), stopping.signal);
    stopping.abort();
    await expect(reading).rejects.toMatchObject({ reason: 'Interrupted' });
  });

  it('lets go of a pipe whose writer says nothing', async () => {
    const path = pipe();
    const stopping = new AbortController();
    const reading = readSource(path, stopping.signal);
    const writer = spawn('sh', ['-c', `exec 3> '${path}'; echo open; exec cat`], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(writer.stdout, 'data');
    stopping.abort();
    await expect(reading).rejects.toMatchObject({ reason: 'Interrupted' });
    writer.stdin.end();
    if (writer.exitCode === null) await once(writer, 'exit');
  });

  it('refuses a device', async () => {
    await expect(readSource('/dev/zero')).rejects.toThrow('/dev/zero is a device, not a file');
  });

  it('refuses a socket', async () => {
    const path = join(folder, 's');
    const server = createServer().listen(path);
    await once(server, 'listening');
    await expect(readSource(path)).rejects.toThrow(`${path} is a socket, not a file`);
    server.close();
  });
});
