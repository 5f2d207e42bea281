import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLock } from './file-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('withLock', () => {
  it('lets the second wait until the first is done, and says so once', async () => {
    const path = join(folder, 'deep', 'lock');
    const order: string[] = [];
    const { signal } = new AbortController();
    let finish = () => {};
    let started = () => {};
    const isStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const first = withLock(path, { signal }, async () => {
      started();
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      order.push('first');
    });
    await isStarted;
    const onWait = () => {
      order.push('waits');
      finish();
    };
    const second = withLock(path, { signal, onWait }, async () => void order.push('second'));
    await Promise.all([first, second]);
    expect(order).toEqual(['waits', 'first', 'second']);
  });

  it('is free again when the work failed, and stops waiting on a signal', async () => {
    const path = join(folder, 'lock');
    const { signal } = new AbortController();
    await expect(withLock(path, { signal }, () => Promise.reject(new Error('work')))).rejects.toThrow('work');
    const controller = new AbortController();
    await withLock(path, { signal }, async () => {
      const waiting = withLock(path, { signal: controller.signal, onWait: () => controller.abort() }, async () => undefined);
      await expect(waiting).rejects.toThrow(/abort/i);
    });
  });
});
