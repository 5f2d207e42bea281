import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#lib/json.ts';
import { ask, condition, object, unready, why } from './why.fixture.ts';

const merge = (name: string, status: JsonObject, spec: JsonObject = {}) =>
  object('Merge', name, { spec: { team: 'a', sources: [{ agent: 'dev' }], target: { branch: 'main' }, ...spec }, status });
const failed = (reason: string, message = 'so it is', status: JsonObject = {}) =>
  merge('m', { phase: 'Failed', reason, conditions: [condition('Ready', 'False', reason, message)], ...status });

describe('a merge', () => {
  it('has landed', () => {
    expect(why(merge('m', { phase: 'Merged', totalCommitsApplied: 3, conditions: [condition('Ready', 'True', 'Merged')] }))).toEqual([
      'merge/m is Merged: 3 commits are in main',
    ]);
  });

  it('waits in the queue for one that waits for people', () => {
    const needed = [condition('Ready', 'False', 'ApprovalNeeded', 'waits for approval of abc')];
    const first = merge('first', { phase: 'Merging', conditions: needed });
    const second = merge('second', { phase: 'Queued', position: 2, waitsFor: 'merge first, which goes first' });
    expect(why(second, [first])).toEqual([
      'merge/second is Queued: 2 in the queue of main: it waits for merge first, which goes first',
      '  merge/first is Merging: ApprovalNeeded: waits for approval of abc',
      'what helps: look at it, and if it is good:',
      '  agentiso approve merge/first',
    ]);
  });

  it.each([
    {
      reason: 'VerifyFailed',
      status: { verification: { commands: [{ command: 'x', exitCode: 1, output: 'a\n2 tests failed\n' }] } },
      help: /2 tests failed; mend it/,
    },
    { reason: 'TargetDirty', help: /commit or stash/ },
    { reason: 'UncommittedChanges', help: /allowDirty/ },
    { reason: 'MergeCommitInRange', help: /branch-per-source/ },
    { reason: 'NoForkBase', help: /sources\[\]\.base/ },
    { reason: 'Whatever', help: /describe merge m/ },
  ])('has failed with $reason and says what helps', ({ reason, status = {}, help }) => {
    const lines = why(failed(reason, 'so it is', status));
    expect(lines[0]).toBe(`merge/m is Failed: ${reason}: so it is`);
    expect(lines.slice(1).join('\n')).toMatch(help);
    expect(ask(failed(reason)).state).toBe('stuck');
  });

  it('has failed because of an agent, which says why', () => {
    expect(why(failed('AgentUnreachable'), [unready('dev', 'BackendMissing', 'no codex')])[1]).toBe(
      '  agent/a-dev is not Ready: BackendMissing: no codex',
    );
  });

  it('has conflicts', () => {
    const status = {
      phase: 'Conflicted',
      conflicts: [{ source: 'dev' }],
      conditions: [condition('Ready', 'False', 'Conflict', 'dev does not fit in a.c')],
    };
    expect(why(merge('m', status))).toEqual([
      'merge/m is Conflicted: Conflict: dev does not fit in a.c',
      'what helps: have dev bring the target into its branch, resolve it and commit; it is then tried again by itself',
    ]);
    expect(why(merge('m', status, { onConflict: 'CreateTask' }))[1]).toContain('dev has a task to mend it');
  });

  it('waits for what takes its time', () => {
    const status = { phase: 'Merging', conditions: [condition('Ready', 'False', 'Verifying', 'waits for verify at abc')] };
    expect(ask(merge('m', status))).toMatchObject({ state: 'waiting' });
  });
});
