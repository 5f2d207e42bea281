import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { Numbers } from '#lib/numbers.ts';
import { fakeDriver } from '../../../test/support/fake-driver.ts';
import { memoryStore } from '../../../test/support/memory-store.ts';
import { surroundingsOf } from './surroundings.ts';
import { TeamTokens } from './team-tokens.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-surroundings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Of the agent the store has no status yet, as in its first pass; `driver` is what that pass has found out. */
async function told(driver: 'process' | 'sandbox') {
  const client = localClient(memoryStore({ kinds: ['Agent', 'Team'] }));
  const agent = await client.create<Agent>({
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Agent',
    metadata: { namespace: 'default', name: 'a' },
    spec: { team: 't' },
  } as Agent);
  const listening: string[] = [];
  const surroundings = await surroundingsOf(
    {
      homeHash: 'abcd',
      here: { drivers: [fakeDriver({ name: 'process' }), fakeDriver({ name: 'sandbox' })], sandbox: { mode: 'unavailable' } },
      numbers: new Numbers(join(folder, 'numbers.json')),
      tokens: new TeamTokens(),
      network: { mode: 'nftables' },
      egress: { listen: async (_uid, path) => void listening.push(path) },
    },
    client,
    { ...agent, status: { isolation: { driver } } },
  );
  return { ...surroundings, listening: listening.length };
}

it('gives a process an address of its own on the loopback that it shares, from its first pass on', async () => {
  expect(await told('process')).toMatchObject({ httpAddress: expect.stringMatching(/^127\.99\./), listening: 1 });
});

it('gives what has a loopback of its own no other address', async () => {
  expect(await told('sandbox')).toMatchObject({ httpAddress: null });
});
