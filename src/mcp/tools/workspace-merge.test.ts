/** Merges as an operator asks for and approves them: what stands in the Merge, and how its status is told. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Merge } from '#api/types.ts';
import { newTeam } from '../../../test/support/controllers.ts';
import { openWorkBench, type WorkBench } from '../work/work-bench.fixture.ts';

let here: WorkBench;
beforeEach(async () => {
  here = await openWorkBench();
  await here.client.create(newTeam('a', { roles: [{ name: 'coder', count: 2 }] }));
});
afterEach(() => here.end());

const merges = async () => (await here.client.list<Merge>('Merge')).items;
const setMerge = async (status: Merge['status']) => {
  const [merge] = await merges();
  if (!merge) throw new Error('there is no merge yet');
  await here.client.updateStatus<Merge>({ ...merge, status: { ...merge.status, ...status } });
};
const ready = (reason: string, message: string) => [
  { type: 'Ready', status: 'False' as const, reason, message, lastTransitionTime: '2026-01-02T03:04:05Z' },
];
const ASKED = { team: 'a', sources: ['coder-1', 'coder-2'], target: { branch: 'main' } };

describe('workspace_merge', () => {
  it('writes a Merge and answers at once', async () => {
    const more = { strategy: 'cherry-pick', commit_message: 'All of it', approval: true, on_conflict: 'CreateTask', verify: ['make'] };
    const answer = await here.answer('workspace_merge', { ...ASKED, ...more });
    const [merge] = await merges();
    expect(answer).toMatchObject({ merge: merge?.metadata.name, success: false, phase: 'Pending', strategy: 'cherry-pick' });
    expect(merge?.metadata.name).toMatch(/^a-merge-/);
    expect(merge?.spec).toMatchObject({
      team: 'a',
      sources: [{ agent: 'coder-1' }, { agent: 'coder-2' }],
      target: { branch: 'main' },
      strategy: 'cherry-pick',
      commitMessage: 'All of it',
      approval: 'Required',
      onConflict: 'CreateTask',
      verify: ['make'],
    });
  });

  it('waits, says how far it is, and tells where it clashes', async () => {
    const waiting = here.answer('workspace_merge', { ...ASKED, wait: true });
    await vi.waitFor(() => setMerge({ phase: 'Merging' }));
    await vi.waitFor(() => expect(here.progress.join()).toMatch(/merge a-merge-\w+: Merging/));
    await setMerge({
      phase: 'Conflicted',
      reason: 'Conflict',
      sources: [
        { agent: 'coder-1', phase: 'Merged' },
        { agent: 'coder-2', phase: 'Conflicted' },
      ],
      conflicts: [{ source: 'coder-2', tasks: ['a-x'], files: [{ path: 'a.txt', kind: 'content', hunks: [{ startLine: 1 }] }] }],
      conditions: ready('Conflict', 'a.txt clashes'),
    });
    expect(await waiting).toMatchObject({
      success: false,
      phase: 'Conflicted',
      merged_sources: [],
      conflicts: [{ source: 'coder-2', tasks: ['a-x'], files: [{ path: 'a.txt', kind: 'content' }] }],
      message: 'a.txt clashes',
    });
  });

  it('does not wait for an approval that nobody else gives; approve_merge approves what was looked at', async () => {
    const waiting = here.answer('workspace_merge', { ...ASKED, approval: true, wait: true });
    await vi.waitFor(() => setMerge({ phase: 'Merging', candidate: 'c1', conditions: ready('ApprovalNeeded', 'waits for approval') }));
    const { merge, candidate, hint } = await waiting;
    expect([candidate, hint]).toEqual(['c1', expect.stringContaining('approve_merge')]);
    expect((await here.call('approve_merge', { merge, commit: 'c0' })).error).toMatchObject({ code: 'Conflict' });
    expect(await here.answer('approve_merge', { merge })).toEqual({ merge, commit: 'c1', approved_by: 'an-admin' });
    expect((await merges())[0]?.status?.approval).toMatchObject({ by: 'an-admin', commit: 'c1' });
  });

  it('says that the time was over', async () => {
    expect(await here.answer('workspace_merge', { ...ASKED, wait: true, timeout_seconds: 1 })).toMatchObject({ timed_out: true });
    expect(await merges()).toHaveLength(1);
  });

  it.each([
    { input: { sources: [] }, code: 'Invalid', field: 'sources' },
    { input: { strategy: 'octopus' }, code: 'Invalid', field: 'strategy' },
    { input: { target: {} }, code: 'Invalid', field: 'target' },
    { input: { target: { brunch: 'main' } }, code: 'Invalid', field: 'target.brunch' },
    { input: { target: { agent: 'coder-1' } }, code: 'Invalid' },
    { input: { team: 'b' }, code: 'NotFound' },
  ])('refuses $input', async ({ input, code, field }) => {
    const { error } = await here.call('workspace_merge', { ...ASKED, ...input });
    expect(error).toMatchObject({ code, ...(field && { field }) });
    expect(await merges()).toEqual([]);
  });
});
