import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startScript } from '../../../test/support/script.ts';

const IDLE_MS = 3_000;

it('answers what was asked while its process stood still for longer than a connection may be idle', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-stopped-'));
  const script = startScript('plain-door.ts', [join(folder, 's'), String(IDLE_MS)]);
  const { child } = script;
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await script.ended;
    rmSync(folder, { recursive: true });
  });
  await script.line((line) => line === 'open', 'open');
  const socket = connect(join(folder, 's'));
  let heard = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    heard += chunk;
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  const ask = () => socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n');
  ask();
  await vi.waitFor(() => expect(heard).toContain('yes'), { timeout: 10_000 });
  heard = '';
  child.kill('SIGSTOP');
  await vi.waitFor(() => expect(readFileSync(`/proc/${child.pid}/stat`, 'latin1')).toContain(') T '));
  ask();
  // The time itself is what counts here: the process has nothing to say while it stands.
  await delay(IDLE_MS + 500);
  child.kill('SIGCONT');
  await Promise.race([closed, vi.waitFor(() => expect(heard).toContain('yes'), { timeout: 10_000 })]);
  expect(heard).toContain('yes');
  // And one that stays idle is still closed.
  await closed;
}, 40_000);
