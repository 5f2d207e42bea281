import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StalledError, UnavailableError } from '#lib/errors.ts';
import type { CommandContext, RunningDaemon } from '../command.ts';
import { openDaemon } from './open-daemon.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-open-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const contextOf = (startDaemon: CommandContext['startDaemon'], signal = new AbortController().signal) =>
  ({ startDaemon, signal, environment: { cwd: home, userHome: home } }) as unknown as CommandContext;
const locked = () => new UnavailableError('another agentiso (pid 7) already runs on this directory', { reason: 'DirectoryLocked' });
const open = (context: CommandContext) => openDaemon({ home, logLevel: 'silent' }, context);

describe('openDaemon', () => {
  it('is the daemon that it starts, and ends it', async () => {
    const calls: string[] = [];
    const daemon = { client: {}, url: 'https://x', kubeconfig: 'k', stop: async () => void calls.push('stop') } as unknown as RunningDaemon;
    const opened = await open(contextOf(async () => daemon));
    expect(opened).toMatchObject({ client: daemon.client, url: 'https://x', kubeconfig: 'k', isOurs: true });
    await opened.close();
    expect(calls).toEqual(['stop']);
  });

  it('tries again while another one has the directory and does not answer', async () => {
    let tries = 0;
    const context = contextOf(async () => {
      if (++tries < 3) throw locked();
      return { url: 'https://x', kubeconfig: 'k', stop: async () => {} } as unknown as RunningDaemon;
    });
    expect(await open(context)).toMatchObject({ isOurs: true });
    expect(tries).toBe(3);
  });

  it('gives up when it is interrupted, and names who has the directory', async () => {
    const stop = new AbortController();
    const context = contextOf(async () => {
      stop.abort();
      throw locked();
    }, stop.signal);
    await expect(open(context)).rejects.toThrow('another agentiso (pid 7) already runs');
  });

  it('passes on every other failure', async () => {
    const context = contextOf(async () => {
      throw new StalledError('Newer', 'a newer version wrote this directory');
    });
    await expect(open(context)).rejects.toThrow('a newer version wrote this directory');
  });
});
