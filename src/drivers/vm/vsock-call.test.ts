import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unheardRejections } from '../../../test/support/unheard-rejections.ts';
import { answerCall } from './vsock-call.ts';

const WAIT = { timeout: 10_000, interval: 10 };
const { signal } = new AbortController();
let folder: string;
const run = () => join(folder, 'run');
/** As the program that has the vsock of the machine calls it. */
const socket = () => join(run(), 'vsock.sock_5003');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentiso-vsock-call-'));
  mkdirSync(run());
});

afterEach(() => rm(folder, { recursive: true }));

/** What the guest hears. */
async function call(): Promise<string> {
  await vi.waitFor(() => expect(existsSync(socket())).toBe(true), WAIT);
  const line = connect(socket()).on('error', () => {});
  return text(line).catch(() => '');
}

describe('the call of a guest', () => {
  it('is answered when what it says is remembered, and nothing is left', async () => {
    const steps: string[] = [];
    const onCalled = async () => {
      await new Promise(setImmediate);
      steps.push('remembered');
    };
    const answered = answerCall({ run: run(), onCalled }, signal);
    expect(await call()).toBe('ok\n');
    expect(steps).toEqual(['remembered']);
    await answered;
    expect(await readdir(folder)).toEqual(['run']);
    expect(await readdir(run())).toEqual([]);
  });

  it('is not answered when that fails', async () => {
    const answered = answerCall({ run: run(), onCalled: () => Promise.reject(new Error('the disk is full')) }, signal);
    const [said] = await Promise.all([call(), expect(answered).rejects.toThrow('the disk is full')]);
    expect(said).toBe('');
  });

  it('is heard by whoever takes the place of one that was killed', async () => {
    writeFileSync(socket(), 'what that has left');
    const answered = answerCall({ run: run(), onCalled: async () => {} }, signal);
    await vi.waitFor(() => expect(statSync(socket()).isSocket()).toBe(true), WAIT);
    expect(await call()).toBe('ok\n');
    await answered;
  });

  it('is given up before it is waited for, and nothing fails later', async () => {
    const wanted = new AbortController();
    const unheard = await unheardRejections(async () => {
      const answered = answerCall({ run: run(), onCalled: async () => {} }, wanted.signal);
      wanted.abort(new Error('wanted no more'));
      await expect(answered).rejects.toThrow('wanted no more');
    });
    expect(unheard).toEqual([]);
  });

  it('is waited for no longer than somebody wants it', async () => {
    const given = new AbortController();
    const answered = answerCall({ run: run(), onCalled: async () => {} }, given.signal);
    await vi.waitFor(() => expect(existsSync(socket())).toBe(true), WAIT);
    given.abort(new Error('no more'));
    await expect(answered).rejects.toThrow('no more');
    await expect(answerCall({ run: run(), onCalled: async () => {} }, given.signal)).rejects.toThrow('no more');
    expect(await readdir(run())).toEqual([]);
  });
});
