import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ControlParams } from '#protocol/control.ts';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { isPidAlive, type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';

let bundle: GuestBundle;
let guest: RunningGuest;

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
});

afterAll(async () => {
  await guest?.stop();
  await bundle?.remove();
});

const start = async (params: ControlParams<'jobStart'>) => (await guest.client.call('jobStart', params)).jobId;
const poll = (params: ControlParams<'jobPoll'>) => guest.client.call('jobPoll', params);
const ended = (jobId: number) =>
  vi.waitFor(async () => {
    const result = await poll({ jobId });
    expect(result.state.isRunning).toBe(false);
    return result;
  }, 10_000);

describe('a background job', () => {
  it('is counted from 1, gives live output by offset, and stays after its end', async () => {
    const jobId = await start({ command: 'echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; echo err >&2; exit 5' });
    expect(jobId).toBe(1);
    const first = await vi.waitFor(async () => {
      const result = await poll({ jobId });
      expect(result.stdout).toBe('one\n');
      return result;
    }, 10_000);
    expect(first).toMatchObject({ stdoutNext: 4, state: { jobId, isRunning: true, stdoutBytes: 4 } });
    expect(first.state).not.toHaveProperty('exitCode');
    await writeFile(join(guest.workspace, 'go'), '');
    const done = await ended(jobId);
    expect(done).toMatchObject({ stdout: 'one\ntwo\n', stderr: 'err\n', state: { exitCode: 5, endedAt: expect.stringMatching(/Z$/) } });
    expect(await poll({ jobId, stdoutOffset: first.stdoutNext })).toMatchObject({ stdout: 'two\n', stdoutNext: 8, stderr: 'err\n' });
    expect((await guest.client.call('jobList', {})).jobs.map((job) => job.jobId)).toContain(jobId);
  });

  it('keeps the first 2 MiB, counts the rest, and lets a reader come to the end', async () => {
    const jobId = await start({ command: 'yes "€€€" | head -c 5000000' });
    expect((await ended(jobId)).state.stdoutBytes).toBe(5_000_000);
    let all = '';
    let offset = 0;
    while (offset < 5_000_000) {
      const { stdout, stdoutNext } = await poll({ jobId, stdoutOffset: offset, maxBytes: 500_001 });
      expect(stdoutNext).toBeGreaterThan(offset);
      all += stdout;
      offset = stdoutNext;
    }
    expect(all).toMatch(/^(€€€\n)+(€€?)?\ufffd?\n\.\.\. \(truncated\)$/);
    expect(Buffer.byteLength(all)).toBeGreaterThan(2 * 1024 * 1024);
  });

  it('answers within one frame also for bytes that JSON makes six of', async () => {
    const jobId = await start({ command: 'head -c 1500000 /dev/zero; head -c 1500000 /dev/zero >&2' });
    await ended(jobId);
    const { stdout, stderr, stdoutNext } = await poll({ jobId, maxBytes: 1024 * 1024 });
    expect(stdoutNext).toBe(stdout.length);
    expect(stdout).toMatch(/^\0+$/);
    expect(stderr.length).toBeGreaterThan(100_000);
  });

  it('is killed with its whole group, and says so at once', async () => {
    const jobId = await start({ command: 'sleep 1000 & echo $$ $! > job.pids; wait' });
    const pids = await vi.waitFor(async () => {
      const text = await readFile(join(guest.workspace, 'job.pids'), 'utf8');
      expect(text).toMatch(/\n$/);
      return text.trim().split(' ').map(Number);
    }, 10_000);
    expect(await guest.client.call('jobKill', { jobId })).toMatchObject({ state: { isRunning: false, exitCode: 137 } });
    expect(pids.filter(isPidAlive)).toEqual([]);
    expect(await guest.client.call('jobKill', { jobId })).toMatchObject({ state: { isRunning: false } });
  });

  it('gets the signal that was asked for and may outlive it', async () => {
    const jobId = await start({ command: 'trap "echo caught" TERM; echo set; while :; do sleep 0.05; done' });
    await vi.waitFor(async () => expect((await poll({ jobId })).stdout).toBe('set\n'), 10_000);
    expect(await guest.client.call('jobKill', { jobId, signal: 'TERM' })).toMatchObject({ state: { isRunning: true } });
    await vi.waitFor(async () => expect((await poll({ jobId })).stdout).toContain('caught\n'), 10_000);
    expect(await guest.client.call('jobKill', { jobId, signal: '9' })).toMatchObject({ state: { isRunning: false } });
    await expect(guest.client.call('jobKill', { jobId, signal: 'NONSENSE' })).rejects.toMatchObject({ code: 'Invalid' });
  });

  it('ends after its time', async () => {
    const jobId = await start({ command: 'sleep 1000', timeoutMs: 100 });
    expect((await ended(jobId)).state.exitCode).toBe(-1);
  });

  it('uses the names of setEnv', async () => {
    await guest.client.call('setEnv', { env: { JOB_NAME: 'night' } });
    const jobId = await start({ command: 'echo $JOB_NAME' });
    expect((await ended(jobId)).stdout).toBe('night\n');
  });

  it('is refused when it cannot be started, and not found when there is none', async () => {
    await expect(start({ argv: ['/no/such'] })).rejects.toMatchObject({ code: 'Invalid', message: expect.stringContaining('/no/such') });
    await expect(start({ command: 'true', cwd: '..' })).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(poll({ jobId: 9999 })).rejects.toMatchObject({ code: 'NotFound' });
    await expect(guest.client.call('jobKill', { jobId: 9999 })).rejects.toMatchObject({ code: 'NotFound' });
  });
});
