import { describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { UnavailableError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { getCondition } from './conditions.ts';
import type { EventObject } from './events.ts';
import { type FileReport, recordFileReports } from './file-reports.ts';
import { interceptClient, type Verb } from './testing.ts';

const KEY = { kind: 'Task', namespace: 'default', name: 'a' };
const MESSAGE = 'tasks/default/a.yaml: line 3: spec.team: Required value (the text is kept as a.yaml.rejected)';
const rejected: FileReport = { type: 'rejected', key: KEY, reason: 'InvalidEdit', message: MESSAGE };
const accepted: FileReport = { type: 'accepted', key: KEY, reason: 'FileEdited', message: 'tasks/default/a.yaml: the edit is in force' };

async function setUp({
  before = () => {},
  isStored = true,
}: {
  before?: (verb: Verb, argument: unknown) => Promise<void> | void;
  isStored?: boolean;
} = {}) {
  const store = memoryStore({ kinds, admission });
  const client = localClient(store);
  const draft = {
    apiVersion: API_VERSION,
    kind: 'Task',
    metadata: { name: 'a', namespace: 'default' },
    spec: { team: 't', command: 'true' },
  };
  if (isStored) await client.create<Task>(draft as unknown as Draft<Task>);
  const reports = recordFileReports(interceptClient(client, before), silentLogger);
  return {
    store,
    client,
    reports,
    task: () => store.get(KEY) as Task,
    events: () =>
      (store.list('Event').items as EventObject[]).map(({ type, reason, message, count }) => `${count} ${type} ${reason}: ${message}`),
  };
}

describe('a refused edit', () => {
  it('becomes a Warning and a condition on its object, with the reason and the line', async () => {
    const { reports, task, events } = await setUp();
    reports.record(rejected);
    await reports.flush();
    expect(events()).toEqual([`1 Warning InvalidEdit: ${MESSAGE}`]);
    expect(getCondition(task(), 'EditRejected')).toMatchObject({ status: 'True', reason: 'InvalidEdit', message: MESSAGE });
  });

  it.each([accepted, { ...accepted, type: 'restored' as const, reason: 'Restored' }])(
    'is over with the next good one ($type)',
    async (good) => {
      const { reports, task, events } = await setUp();
      reports.record(rejected);
      reports.record(good);
      await reports.flush();
      expect(getCondition(task(), 'EditRejected')).toBeUndefined();
      expect(events().sort()).toEqual([`1 Normal ${good.reason}: ${good.message}`, `1 Warning InvalidEdit: ${MESSAGE}`]);
    },
  );

  it('leaves the other conditions of the object alone', async () => {
    const { client, reports, task } = await setUp();
    const ready = { type: 'Ready', status: 'True' as const, reason: 'X', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' };
    await client.updateStatus<Task>({ ...task(), status: { phase: 'Running', conditions: [ready] } });
    reports.record(rejected);
    reports.record(accepted);
    await reports.flush();
    expect(task().status).toEqual({ phase: 'Running', conditions: [ready] });
  });

  it('is counted when it is tried again', async () => {
    const { reports, events } = await setUp();
    for (let time = 0; time < 3; time++) reports.record(rejected);
    await reports.flush();
    expect(events()).toEqual([`3 Warning InvalidEdit: ${MESSAGE}`]);
  });

  it('of a file that never became an object still has an event under its name', async () => {
    const { reports, store, events } = await setUp({ isStored: false });
    reports.record({ ...rejected, type: 'refused' });
    await reports.flush();
    expect(events()).toEqual([`1 Warning InvalidEdit: ${MESSAGE}`]);
    expect(store.list('Event').items[0]).toMatchObject({ involvedObject: { kind: 'Task', namespace: 'default', name: 'a' } });
  });

  it('is marked also when somebody else writes the status at that moment', async () => {
    let races = 2;
    const { reports, task, client } = await setUp({
      before: async (verb) => {
        if (verb !== 'updateStatus' || races-- <= 0) return;
        const now = task();
        await client.updateStatus<Task>({ ...now, status: { ...now.status, attempt: (now.status?.attempt ?? 0) + 1 } });
      },
    });
    reports.record(rejected);
    await reports.flush();
    expect(task().status?.attempt).toBe(2);
    expect(getCondition(task(), 'EditRejected')?.status).toBe('True');
  });
});

describe('an accepted edit', () => {
  it('writes nothing to an object that had no refused one', async () => {
    const { reports, task, events } = await setUp();
    const before = task();
    reports.record(accepted);
    await reports.flush();
    expect(task()).toBe(before);
    expect(events()).toEqual(['1 Normal FileEdited: tasks/default/a.yaml: the edit is in force']);
  });
});

describe('flush', () => {
  it('waits for everything recorded before it, in order', async () => {
    const { reports, events } = await setUp();
    reports.record(rejected);
    reports.record(accepted);
    const first = events();
    await reports.flush();
    expect([first, events().length]).toEqual([[], 2]);
    await reports.flush();
  });

  it('does not fail when the store takes no more writes, and later reports are written', async () => {
    let isFull = true;
    const { reports, events, task } = await setUp({
      before: (verb) => {
        if (isFull && verb !== 'get') throw new UnavailableError('disk full');
      },
    });
    reports.record(rejected);
    await reports.flush();
    isFull = false;
    reports.record({ ...rejected, message: 'later' });
    await reports.flush();
    expect(events()).toEqual(['1 Warning InvalidEdit: later']);
    expect(getCondition(task(), 'EditRejected')?.message).toBe('later');
  });
});
