import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Machine } from './machine.ts';
import { restoreState, saveState } from './migration.ts';

const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;

let run: string;
/** What would have ended a daemon. */
let unheard: unknown[];
const hear = (error: unknown) => unheard.push(error);

beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), 'agentiso-migration-'));
  unheard = [];
  for (const event of EVENTS) process.on(event, hear);
});
afterEach(() => {
  for (const event of EVENTS) process.off(event, hear);
  rmSync(run, { recursive: true, force: true });
});

/** `answer` is what QEMU says to a command. */
function machineThat(answer: (command: string) => Promise<unknown>, more: Partial<Machine> = {}): Machine {
  return { isPaused: false, qmp: async () => ({ execute: answer }), ...more } as unknown as Machine;
}

describe('the state of a machine that is killed while it is saved', () => {
  it('is not saved, and nothing fails later when the time for it is over', async () => {
    const machine = machineThat(async (command) => {
      if (command === 'migrate') throw new Error('QEMU hung up');
    });
    const limit = new AbortController();
    await expect(saveState(machine, { run, path: join(run, 'state'), hasMemory: true, signal: limit.signal })).rejects.toThrow('hung up');
    limit.abort(new Error('it took too long'));
    await nextTurn();
    expect(unheard).toEqual([]);
  });
});

describe('the state of a machine that is loaded', () => {
  it('is so also when QEMU hangs up without having read the last of it, which is all on the way by then', async () => {
    const path = join(run, 'state');
    writeFileSync(path, 'state and some more');
    const server = createServer({ pauseOnConnect: true }).listen(join(run, 'qemu.sock'));
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const dialled = connect(join(run, 'qemu.sock'));
    let looks = 0;
    const machine = machineThat(
      async (command) => {
        if (command !== 'query-status') return {};
        looks += 1;
        if (looks === 1) return { status: 'inmigrate' };
        const [qemu] = await accepted;
        const isClosed = new Promise((resolve) => dialled.once('close', resolve));
        qemu.destroy();
        await isClosed;
        return { status: 'paused' };
      },
      { openPorts: async () => {}, dial: async () => dialled },
    );
    expect(await restoreState(machine, { path, hasMemory: false, signal: new AbortController().signal })).toBe(true);
    server.close();
    expect(unheard).toEqual([]);
  });
});
