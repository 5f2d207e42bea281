import { beforeEach, describe, expect, it } from 'vitest';
import { API_VERSION } from '#api/meta.ts';
import type { Merge } from '#api/types.ts';
import { agentIdentity, type Identity, personIdentity } from '#server/auth/identity.ts';
import { type Bench, bench } from '../../../test/support/controllers.ts';
import { createMergeDesk } from './merge-desk.ts';

const ann = personIdentity('admin', 'ann');
const agent = (name: string, team = 'shop') => agentIdentity({ namespace: 'default', team, name });
let here: Bench;

beforeEach(async () => {
  here = bench();
  const spec = { team: 'shop', sources: [{ agent: 'shop-one' }], target: { branch: 'main' }, approval: 'Required' };
  const merge = await here.client.create<Merge>({
    apiVersion: API_VERSION,
    kind: 'Merge',
    metadata: { name: 'm', namespace: 'default' },
    spec,
  } as never);
  await here.client.updateStatus<Merge>({ ...merge, status: { phase: 'Merging', candidate: 'abc' } });
});

async function ask(identity: Identity, fields: object, path = 'approve') {
  const desk = createMergeDesk({ client: here.client, now: here.ctx.now });
  const request = { method: 'POST', path, identity, fields: async () => fields };
  return desk.answer(request as never);
}
const approval = () => here.get<Merge>('Merge', 'm')?.status?.approval;

describe('the approval of a merge', () => {
  it('names who, which commit and when', async () => {
    const want = { by: 'ann', commit: 'abc', time: '2026-01-02T03:04:05Z' };
    expect(await ask(ann, { name: 'm', commit: 'abc' })).toEqual({ status: 200, value: want });
    expect([approval(), here.get<Merge>('Merge', 'm')?.status?.candidate]).toEqual([want, 'abc']);
  });

  it('is for agents that wrote none of it', async () => {
    await expect(ask(agent('one'), { name: 'm' })).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining('is a source'),
    });
    await expect(ask(agent('one', 'other'), { name: 'm' })).rejects.toMatchObject({ code: 'Forbidden' });
    expect(approval()).toBeUndefined();
    await ask(agent('two'), { name: 'm' });
    expect(approval()?.by).toBe('agent:default/shop/two');
  });

  it.each([
    { name: 'another commit', fields: { name: 'm', commit: 'abd' }, code: 'Conflict' },
    { name: 'no such merge', fields: { name: 'x' }, code: 'NotFound' },
    { name: 'no name', fields: {}, code: 'Invalid' },
    { name: 'a field that does not exist', fields: { name: 'm', by: 'bob' }, code: 'Invalid' },
  ])('is refused: $name', async ({ fields, code }) => {
    await expect(ask(ann, fields)).rejects.toMatchObject({ code });
    expect(approval()).toBeUndefined();
  });

  it('is refused before there is a commit and after it has landed', async () => {
    for (const status of [{ phase: 'Queued' }, { phase: 'Merged', candidate: 'abc' }] as const) {
      const merge = here.get<Merge>('Merge', 'm') as Merge;
      await here.client.updateStatus<Merge>({ ...merge, status });
      await expect(ask(ann, { name: 'm' })).rejects.toMatchObject({ code: 'Conflict' });
    }
    await expect(ask(ann, { name: 'm' }, 'land')).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('is not for those who only look', () => {
    const { may } = createMergeDesk({ client: here.client, now: here.ctx.now });
    expect([may(ann, 'POST'), may(agent('two'), 'POST'), may(personIdentity('viewer', 'eve'), 'POST')]).toEqual([true, true, false]);
  });
});
