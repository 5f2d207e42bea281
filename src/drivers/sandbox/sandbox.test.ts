import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareSandbox, type SandboxAbilities, type SandboxStart } from './sandbox.ts';

const ROOTLESS: SandboxAbilities = {
  mode: 'rootless',
  canOverlay: false,
  canDisableUserns: true,
  host: { directories: ['/usr'], links: [], etc: [] },
  node: { path: '/usr/bin/node' },
  seccomp: Buffer.alloc(8),
};

describe('prepareSandbox without root', () => {
  let start: SandboxStart;

  beforeEach(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'agentiso-prepare-'));
    for (const name of ['run', 'state']) mkdirSync(join(directory, name));
    start = {
      identity: { id: 'a', incarnation: 'i' },
      ...{ hostname: 'h', mark: 'm', directory, guestAgentPath: fileURLToPath(import.meta.url), uid: 70_001, egress: false, groups: [] },
      resources: { vcpus: 1, memoryMiB: 64, diskGiB: 1 },
    };
  });

  afterEach(() => rm(start.directory, { recursive: true }));

  it('gives a network with nothing in it, always', async () => {
    const { argv } = await prepareSandbox(start, ROOTLESS);
    expect(argv).toContain('--unshare-net');
    expect(argv).not.toContain('setpriv');
  });

  it('refuses a prepared network rather than to stay in the network of the host', async () => {
    await expect(prepareSandbox({ ...start, network: '/run/netns/a' }, ROOTLESS)).rejects.toMatchObject({ reason: 'NetworkUnavailable' });
  });
});
