import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Machine } from './machine.ts';
import { saveState } from './migration.ts';

let run: string;
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), 'agentiso-migration-'));
});
afterEach(() => rmSync(run, { recursive: true, force: true }));

/** QEMU hangs up when it is told to write its state down. */
const machine = {
  isPaused: false,
  qmp: async () => ({
    execute: async (command: string) => {
      if (command === 'migrate') throw new Error('QEMU hung up');
      return {};
    },
  }),
} as unknown as Machine;

describe('the state of a machine that is killed while it is saved', () => {
  it('is not saved, and nothing fails later when the time for it is over', async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    process.on('unhandledRejection', hear);
    const limit = new AbortController();
    await expect(saveState(machine, { run, path: join(run, 'state'), hasMemory: true, signal: limit.signal })).rejects.toThrow('hung up');
    limit.abort(new Error('it took too long'));
    await nextTurn();
    process.off('unhandledRejection', hear);
    expect(unheard).toEqual([]);
  });
});
