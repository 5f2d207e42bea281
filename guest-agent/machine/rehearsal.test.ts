import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PipePool } from '../pipes/pipe-pool.ts';
import { ProcessGroups } from '../process-group.ts';
import { rehearse } from './rehearsal.ts';
import { MachineSetUp } from './set-up.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-rehearsal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each(['with', 'without'])('is gone through to the end %s a device, and leaves nothing', async (kind) => {
  const device = join(folder, 'device');
  if (kind === 'with') mkdirSync(device);
  if (kind === 'with') writeFileSync(join(device, 'ifindex'), '7\n');
  const told: string[] = [];
  const helper = { tell: (lines: readonly string[]) => void told.push(...lines), said: async () => {}, end: () => {} };
  const afterwards = vi.fn();
  const addressMode = join(folder, 'mode');
  const machine = new MachineSetUp({
    ...{ startHelper: () => helper, afterwards, device, addressMode },
    ...{ hostname: 'unused', etcHostname: 'unused', etcHosts: 'unused' },
  });
  const options = {
    options: { identity: undefined, runDir: folder, stateDir: folder, workspace: folder, hasEgress: false, hasProviders: false },
    groups: new ProcessGroups(new PipePool(join(folder, 'pipes'))),
    ...{ processEnv: {}, binDir: folder, stop: () => {} },
  };
  await rehearse(machine, { device, folder: join(folder, 'rehearsal'), rounds: 3 }, options);
  expect(new Set(told.slice(1))).toEqual(new Set(['rehearse']));
  expect(afterwards).not.toHaveBeenCalled();
  expect(readdirSync(folder)).toEqual(kind === 'with' ? ['device', 'mode'] : []);
});
