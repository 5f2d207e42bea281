/** Every driver with the real guest agent: the handshake, a command, an end in good order, and the warm pool's `bind`. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Driver, WorkspaceSpec } from '#drivers/driver.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { sandboxDriver } from '#drivers/sandbox/driver.ts';
import { bindGuest, connectGuest } from '#guest/client.ts';
import { silentLogger } from '#lib/log.ts';
import { bundleGuest, type GuestBundle } from '../support/guest-bundle.ts';
import { openDriver } from '../support/open-driver.ts';
import { requires } from '../support/requirements.ts';

const { signal } = new AbortController();
const WAIT = { timeout: 20_000, interval: 20 };
const SPEC: WorkspaceSpec = {
  id: 'real-guest',
  incarnation: 'first',
  hostname: 'real-host',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: false,
};
const support = await detectSandbox();
let bundle: GuestBundle;
let base: string;
let driver: Driver;

beforeAll(async () => {
  bundle = await bundleGuest();
});

afterAll(() => bundle?.remove());

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'agentiso-real-'));
});

afterEach(async () => {
  for (const { id } of await driver.list(signal)) {
    await vi.waitFor(async () => {
      await driver.delete(id, signal);
      expect(await driver.get(id, signal)).toBeUndefined();
    }, WAIT);
  }
  await rm(base, { recursive: true, force: true });
});

async function execute(command: string, spec: WorkspaceSpec): Promise<string> {
  const stream = await vi.waitFor(() => driver.connect(spec.id, 'control', signal), WAIT);
  const client = await connectGuest(stream, spec);
  try {
    const { stdout } = await client.call('exec', { command, timeoutMs: 30_000 });
    return stdout;
  } finally {
    client.close('done');
  }
}

async function checkLife(): Promise<void> {
  await driver.create(SPEC, signal);
  expect(await execute('echo hello > file; cat file', SPEC)).toBe('hello\n');
  await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
  const state = await driver.get(SPEC.id, signal);
  expect(state).toEqual({ id: SPEC.id, incarnation: SPEC.incarnation, phase: 'exited' });
}

it('the real guest agent lives and ends with the process driver', async () => {
  driver = await openDriver('process', { stateDir: base, guestAgentPath: bundle.path });
  await checkLife();
});

requires(support.mode !== 'unavailable', `sandboxes: ${support.reason}`)('in a sandbox', () => {
  it('the real guest agent lives and ends', async () => {
    driver = await openDriver('sandbox', { stateDir: base, guestAgentPath: bundle.path });
    await checkLife();
  });
});

requires(support.mode === 'root', `sandboxes as root: ${support.reason || 'the tests do not run as root'}`)('from the pool', () => {
  it('the real guest agent takes the identity it is given', async () => {
    const pool = { size: 1, quietMs: 0, bind: bindGuest };
    const pooled = sandboxDriver({ stateDir: base, guestAgentPath: bundle.path, log: silentLogger, support, pool });
    driver = pooled;
    await driver.create(SPEC, signal);
    await pooled.poolSettled();
    const [folder = ''] = (await readdir(base)).filter((name) => name.startsWith('.pool-'));
    await vi.waitFor(async () => expect(await readdir(join(base, folder, 'run'))).toHaveLength(2), WAIT);
    await execute('true', SPEC);
    const second = { ...SPEC, id: 'second', hostname: 'second-host' };
    expect(await driver.create(second, signal)).toMatchObject({ phase: 'running' });
    expect(await execute('hostname; pwd', second)).toBe('second-host\n/workspace\n');
    await pooled.closePool();
  });
});
