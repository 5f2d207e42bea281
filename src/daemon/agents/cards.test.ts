import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { silentLogger } from '#lib/log.ts';
import { openVault } from '#vault/open-vault.ts';
import type { Vault } from '#vault/vault.ts';
import { openCards, type VaultCards } from './cards.ts';

let home: string;
let vault: Vault;
let cards: VaultCards;
let said: string[];
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-cards-'));
  vault = await openVault({ home, log: silentLogger });
  said = [];
  cards = openCards({ vault, log: silentLogger, onRestored: ({ metadata }, message) => said.push(`${metadata.name}: ${message}`) });
});
afterEach(async () => {
  cards.close();
  await vault.close();
  rmSync(home, { recursive: true });
});

const agent = (name: string, namespace = 'default') => ({ kind: 'Agent', metadata: { name, namespace }, spec: { team: 'a' } }) as Agent;
const file = (path: string) => join(home, 'vault', path);

it('lie in the folder of the team, and the vault lists them though they are no notes', async () => {
  await cards.write(agent('a-coder'), { name: 'coder' });
  await cards.write(agent('a-coder', 'lab'), { name: 'coder' });
  expect(readFileSync(file('teams/a/cards/coder.json'), 'utf8')).toBe('{\n  "name": "coder"\n}\n');
  const { entries } = await vault.list({ namespace: 'default', team: 'a' }, { recursive: true });
  expect(entries.map(({ path }) => path)).toEqual(['teams/a/cards/coder.json']);
  await cards.remove(agent('a-coder'));
  await cards.remove(agent('a-coder'));
  expect(readdirSync(file('teams/a/cards'))).toEqual([]);
  expect(readdirSync(file('namespaces/lab/teams/a/cards'))).toEqual(['coder.json']);
});

it('are put back when somebody else changes or removes them', async () => {
  await cards.write(agent('a-coder'), { name: 'coder' });
  const before = readFileSync(file('teams/a/cards/coder.json'), 'utf8');
  const isBack = () => expect(readFileSync(file('teams/a/cards/coder.json'), 'utf8')).toBe(before);
  writeFileSync(file('teams/a/cards/coder.json'), '{}');
  await vi.waitFor(() => expect(said).toHaveLength(1), { timeout: 10_000 });
  isBack();
  expect(said[0]).toBe(
    'a-coder: cards/coder.json of team a is generated: what was changed in it is put back. To change it: agentiso edit team a',
  );
  rmSync(file('teams/a/cards/coder.json'));
  await vi.waitFor(isBack, { timeout: 10_000 });
});

it('of agents from before a start are looked at later, the newest state of each; a second one is written at once', async () => {
  const creationTimestamp = '2026-01-01T00:00:00.000Z';
  const from = (name: string) => ({ ...agent(name), metadata: { ...agent(name).metadata, creationTimestamp } }) as Agent;
  const text = (name: string) => readFileSync(file(`teams/a/cards/${name}.json`), 'utf8');
  for (const name of ['a-kept', 'a-changed', 'a-gone']) await cards.write(agent(name), { name, by: 'the daemon before' });
  cards.close();
  writeFileSync(file('teams/a/cards/kept.json'), 'changed while nobody ran');
  cards = openCards({ vault, log: silentLogger, onRestored: () => {}, firstLookMs: 200 });
  await cards.write(from('a-kept'), { name: 'kept' });
  await cards.write(from('a-changed'), { name: 'first' });
  await cards.write(from('a-gone'), { name: 'gone' });
  await cards.write(from('a-changed'), { name: 'second' });
  expect(JSON.parse(text('changed'))).toEqual({ name: 'second' });
  await cards.remove(from('a-gone'));
  await vi.waitFor(() => expect(JSON.parse(text('kept'))).toEqual({ name: 'kept' }), { timeout: 10_000 });
  expect(JSON.parse(text('changed'))).toEqual({ name: 'second' });
  expect(readdirSync(file('teams/a/cards')).sort()).toEqual(['changed.json', 'kept.json']);
});
