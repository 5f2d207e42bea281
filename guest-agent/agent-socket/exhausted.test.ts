import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { GENERATION } from '#protocol/common.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { bundleGuest, type GuestBundle } from '../../test/support/guest-bundle.ts';
import { GUEST_ID, type RunningGuest, startGuestProcess } from '../../test/support/running-guest.ts';
import { CONFIGURATION, FakeHost } from '../relay/fake-host.fixture.ts';
import { ask } from './socket-client.fixture.ts';

const canLimit = spawnSync('prlimit', ['--version']).status === 0;
const soon = { timeout: 15_000, interval: 50 };

let bundle: GuestBundle;
let guest: RunningGuest;

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
}, 60_000);

afterAll(async () => {
  await guest?.stop();
  await bundle?.remove();
});

it.runIf(canLimit)('is of use again after a guest had no descriptors left', async () => {
  const host = new FakeHost();
  const relay = host.join(connect(guest.relayPath));
  await relay.call('hello', { generation: GENERATION, ...GUEST_ID });
  await guest.client.call('configure', CONFIGURATION);
  const path = join(guest.runDir, 'agent.sock');
  const check = async () => expect((await ask(path, 'checkMessages', { limit: 0 })).status).toBe(200);
  await check();
  const { pid } = guest.child;
  const limit = readdirSync(`/proc/${pid}/fd`).length + 2;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:4096`]);
  const sockets: Socket[] = [];
  for (let index = 0; index < 40; index += 1) {
    const socket = connect(path).on('error', () => {});
    sockets.push(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  }
  execFileSync('prlimit', ['--pid', String(pid), '--nofile=4096:4096']);
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(check, soon);
  expect(guest.child.exitCode).toBeNull();
  relay.close(new ProtocolError('Unavailable', 'the test is over'));
});
