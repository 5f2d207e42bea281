import { describe, expect, it } from 'vitest';
import { preparedGolden } from '#api/golden.ts';
import type { JsonObject } from '#lib/json.ts';
import { agent, ago, condition, object, ready, readyTeam, running, why } from './why.fixture.ts';

const TEAM = readyTeam('a');
const pending = (type: string, reason: string, message: string): JsonObject => ({
  phase: 'Ready',
  observedGeneration: 1,
  conditions: [condition('Ready', 'True', 'Running'), condition(type, 'True', reason, message)],
});
const snapshot = (status: JsonObject, spec: JsonObject = { team: 'a', agent: 'a-dev' }) =>
  object('Snapshot', 's', { spec, status: { observedGeneration: 1, ...status } });

describe('an agent that rests, or is about to', () => {
  it.each<[what: string, status: JsonObject, want: RegExp]>([
    ['is suspended', { phase: 'Suspended', observedGeneration: 1 }, /is Suspended.*\n.*agentiso resume a-dev/s],
    ['is to be suspended', pending('SuspendPending', 'Suspending', 'it is about to be held still'), /is about to be suspended/],
    ['cannot be', pending('SuspendPending', 'SuspendUnsupported', 'the process driver cannot'), /cannot be.*agentiso resume a-dev/s],
    ['is to be taken back', pending('RestorePending', 'Restoring', 'to snapshot s'), /is about to be taken back/],
    ['cannot be taken back', pending('RestorePending', 'SnapshotNotFound', 'there is none'), /cannot be.*"restore":null/s],
  ])('%s', (_what, status, want) => {
    expect(why(agent('dev', status), [TEAM]).join('\n')).toMatch(want);
  });

  it('names the task that it waits for', () => {
    const status = pending('RestorePending', 'TaskRunning', 'when it holds no Task');
    expect(why(agent('dev', status), [TEAM, running('x', 'dev')]).join('\n')).toMatch(/gets no new tasks.*task\/a-x/s);
  });
});

describe('a snapshot', () => {
  it.each<[what: string, status: JsonObject, want: RegExp]>([
    ['is there', { phase: 'Ready', takenAt: ago(60), conditions: [condition('Ready', 'True', 'Taken')] }, /is Ready.*a-dev as it was/s],
    [
      'is too large to be taken of an agent that runs',
      { phase: 'Failed', conditions: [condition('Ready', 'False', 'TooLargeToHold', 'too large')] },
      /is Failed.*agentiso suspend a-dev/s,
    ],
    [
      'waits for its agent',
      { phase: 'Pending', conditions: [condition('Ready', 'False', 'AgentNotStarted', 'waiting for agent a-dev')] },
      /is Pending.*agent\/a-dev/s,
    ],
    [
      'is one too many',
      { phase: 'Failed', conditions: [condition('Ready', 'False', 'QuotaExceeded', 'has 20 snapshots')] },
      /is Failed.*has 20 snapshots/s,
    ],
  ])('%s', (_what, status, want) => {
    expect(why(snapshot(status), [TEAM, ready('dev')]).join('\n')).toMatch(want);
  });
});

describe('a member of a team with a golden snapshot', () => {
  const team = (golden: JsonObject) => {
    const made = readyTeam('a') as { spec: JsonObject };
    return { ...made, spec: { ...made.spec, golden: { image: 'base', snapshot: 'golden', allowInternet: false, ...golden } } } as never;
  };
  const waits = (reason: string, message: string) =>
    agent('dev', {
      phase: 'Pending',
      observedGeneration: 1,
      conditions: [condition('WorkspaceReady', 'False', reason, message), condition('Ready', 'False', reason, message)],
    });
  const prepared = (given: JsonObject, status: JsonObject) => {
    const { name = '', hash } = preparedGolden(team(given)) ?? {};
    return object('Snapshot', name, { spec: { team: 'a', golden: hash ?? '' }, status: { observedGeneration: 1, ...status } });
  };

  it('leads to the command that has failed, and to what tries it again', () => {
    const failed = prepared({}, { phase: 'Failed', conditions: [condition('Ready', 'False', 'GoldenFailed', 'make ended with 2')] });
    expect(why(waits('GoldenFailed', 'make ended with 2'), [team({}), failed]).join('\n')).toMatch(
      /GoldenFailed.*snapshot\/a-golden-.*make ended with 2.*agentiso delete snapshot a-golden-/s,
    );
  });

  it('is patient while it is prepared', () => {
    const preparing = prepared({}, { phase: 'Pending', conditions: [condition('Ready', 'False', 'Preparing', 'its commands run')] });
    expect(why(waits('GoldenPreparing', 'x'), [team({}), preparing]).join('\n')).toMatch(
      /snapshot\/a-golden-.*is Pending.*its commands run/s,
    );
    expect(why(waits('GoldenPreparing', 'x'), [team({})]).join('\n')).toMatch(/patience/);
  });

  it('says which snapshot is missing, and where it is named', () => {
    const words = why(waits('SnapshotNotFound', 'there is no snapshot golden of agent lab/ann'), [team({ from: 'lab/ann' })]).join('\n');
    expect(words).toMatch(/no snapshot golden of agent lab\/ann.*agentiso edit team a/s);
  });
});
