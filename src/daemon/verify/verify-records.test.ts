import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScratchRecords } from './verify-records.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-records-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('remembers a workspace until it is gone, for whoever comes after', async () => {
  expect(await new ScratchRecords(home).list()).toEqual([]);
  const added = await new ScratchRecords(home).add({ driver: 'sandbox', taskUid: 't', attempt: 2 });
  expect(added.id).toMatch(/^verify-/);
  expect(await new ScratchRecords(home).list()).toEqual([added]);
  await new ScratchRecords(home).remove(added.id);
  await new ScratchRecords(home).remove(added.id);
  expect(readdirSync(join(home, 'state/verifications'))).toEqual([]);
});

it.each([
  ['half a record', 'verify-00000000-0000-4000-8000-000000000000.json', '{"id":"verify-'],
  ['one that was never finished', 'verify-00000000-0000-4000-8000-000000000000.json.new', '{}'],
  ['an agent', 'uid.json', '{"id":"uid","driver":"sandbox","taskUid":"t","attempt":1}'],
  [
    'one under the name of another',
    'x.json',
    '{"id":"verify-00000000-0000-4000-8000-000000000000","driver":"sandbox","taskUid":"t","attempt":1}',
  ],
  ['a path', '..json', '{"id":"verify-../../x","driver":"sandbox","taskUid":"t","attempt":1}'],
])('takes nothing else for one: %s', async (_name, file, text) => {
  mkdirSync(join(home, 'state/verifications'), { recursive: true });
  writeFileSync(join(home, 'state/verifications', file), text);
  expect(await new ScratchRecords(home).list()).toEqual([]);
});

it('removes what an earlier process did not finish, and nothing of this one', async () => {
  const directory = join(home, 'state/verifications');
  mkdirSync(directory, { recursive: true });
  const [old, young] = ['1', '2'].map((digit) => join(directory, `verify-00000000-0000-4000-8000-00000000000${digit}.json.new`));
  for (const path of [old, young]) writeFileSync(path ?? '', '{');
  utimesSync(old ?? '', 1, 1);
  await new ScratchRecords(home).list();
  expect(readdirSync(directory).map((name) => join(directory, name))).toEqual([young]);
});
