import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Inbox } from '../state/inbox.ts';
import { FakeWorkspace } from './fake-host.fixture.ts';

let workspace: FakeWorkspace;

beforeEach(async () => {
  workspace = await FakeWorkspace.open();
});

afterEach(() => workspace.close());

const soon = { timeout: 10_000, interval: 10 };

/** What is on disk, seen by somebody who opens it anew. */
function storedSeqs(): number[] {
  const inbox = new Inbox(workspace.stateDir, (text) => expect.unreachable(text));
  return inbox.read({ after: 0, limit: 1000 }).map(({ seq }) => seq);
}

describe('mail', () => {
  it('is pulled at a hint, is on disk when it is confirmed, and is confirmed up to the last one', async () => {
    const { host } = workspace;
    const sent = host.send({ metadata: { a: 'b' } });
    await vi.waitFor(() => expect(host.storedSeq).toBe(1), soon);
    const inbox = new Inbox(workspace.stateDir, (text) => expect.unreachable(text));
    expect(inbox.read({ after: 0, limit: 10 })).toEqual([sent]);
    for (let index = 0; index < 20; index += 1) host.send();
    await vi.waitFor(() => expect(host.storedSeq).toBe(21), soon);
    expect(storedSeqs()).toHaveLength(21);
  });

  it('comes with every hint lost', async () => {
    const { host } = workspace;
    await vi.waitFor(() => expect(host.pulls.length).toBeGreaterThan(0), soon);
    host.areHintsLost = true;
    host.send();
    await vi.waitFor(() => expect(host.storedSeq).toBe(1), soon);
  });

  it('that came while nobody was connected is pulled at the next connection', async () => {
    const { host } = workspace;
    workspace.connection.destroy();
    host.send();
    await workspace.connect();
    await vi.waitFor(() => expect(host.storedSeq).toBe(1), soon);
  });

  it('goes on over the newest connection when an older one hangs', async () => {
    const { host } = workspace;
    const hanging = workspace.connection;
    hanging.far.pause();
    host.send();
    await workspace.connect();
    await vi.waitFor(() => expect(host.storedSeq).toBe(1), soon);
    hanging.destroy();
    host.send();
    await vi.waitFor(() => expect(host.storedSeq).toBe(2), soon);
  });

  it('is not stored twice after a restart, nor when the same id comes again', async () => {
    const { host } = workspace;
    host.send();
    host.send({ message_id: 'm1', content: 'again' });
    await vi.waitFor(() => expect(host.storedSeq).toBe(2), soon);
    await workspace.restart();
    host.send();
    await vi.waitFor(() => expect(host.storedSeq).toBe(3), soon);
    expect(storedSeqs()).toEqual([1, 3]);
  });

  it('is asked for in smaller pieces when an answer is more than a frame', async () => {
    const { host } = workspace;
    host.maxAnswered = 10;
    for (let index = 0; index < 35; index += 1) host.send();
    await vi.waitFor(() => expect(host.storedSeq).toBe(35), soon);
    expect(storedSeqs()).toHaveLength(35);
  });

  it('comes through while four tasks run and write as fast as they can', async () => {
    const { host } = workspace;
    for (let index = 0; index < 4; index += 1) host.assign({ command: 'yes full output | head -c 30000000; sleep 30' });
    await vi.waitFor(() => expect(host.heartbeats.at(-1)?.runningTasks).toHaveLength(4), soon);
    host.send();
    await vi.waitFor(() => expect(host.storedSeq).toBe(5), soon);
    expect(storedSeqs()).toEqual([5]);
  });
});

describe('the heartbeat', () => {
  it('comes at once with a connection and says what the host plans with', async () => {
    const { host } = workspace;
    await vi.waitFor(() => expect(host.heartbeats.length).toBeGreaterThan(0), soon);
    expect(host.heartbeats[0]).toMatchObject({ runningTasks: [], freeSlots: 4, pendingResults: 0, storedSeq: 0 });
  });

  it('comes when a task starts and when its result is there, fewer than there are changes', async () => {
    const { host } = workspace;
    for (let index = 0; index < 30; index += 1) host.assign({ command: 'true' });
    await vi.waitFor(() => expect(host.heartbeats.at(-1)).toMatchObject({ pendingResults: 30, freeSlots: 4, runningTasks: [] }), soon);
    // Each is queued, starts and ends; of a result it comes at once, of the rest now and then.
    expect(host.heartbeats.length).toBeLessThan(60);
    workspace.host.assign({ taskUid: 'long', command: 'sleep 60' });
    await vi.waitFor(
      () => expect(host.heartbeats.at(-1)).toMatchObject({ runningTasks: [{ taskUid: 'long', attempt: 1 }], freeSlots: 3 }),
      soon,
    );
  });
});

describe('a result', () => {
  const told = () => workspace.host.heartbeats.flatMap(({ results = [] }) => results.map(({ taskUid }) => taskUid));

  it('comes with a heartbeat, once for each connection, until the host has accepted it with a hint', async () => {
    const { host } = workspace;
    host.assign({ taskUid: 'a', command: 'echo hi' });
    await vi.waitFor(() => expect(told()).toEqual(['a']), soon);
    host.assign({ taskUid: 'b', command: 'true' });
    await vi.waitFor(() => expect(told()).toEqual(['a', 'b']), soon);
    host.heartbeats.length = 0;
    await workspace.connect();
    await vi.waitFor(() => expect(told()).toEqual(['a', 'b']), soon);
    await host.accept({ taskUid: 'a', attempt: 1 }, { taskUid: 'b', attempt: 1 });
    expect((await workspace.poll()).results).toEqual([]);
    host.heartbeats.length = 0;
    await workspace.restart();
    await vi.waitFor(() => expect(host.heartbeats[0]).toMatchObject({ pendingResults: 0, results: [] }), soon);
  });

  it('that is too large for a heartbeat has to be asked for, and so have those beside it', async () => {
    const { host } = workspace;
    host.assign({ taskUid: 'large', command: 'head -c 30000 /dev/zero | tr "\\0" x' });
    await workspace.resultOf('large');
    host.assign({ taskUid: 'small', command: 'true' });
    await workspace.resultOf('small');
    await vi.waitFor(() => expect(host.heartbeats.at(-1)?.pendingResults).toBe(2), soon);
    expect([host.heartbeats.at(-1)?.results, told()]).toEqual([undefined, []]);
    await workspace.ack({ taskUid: 'large', attempt: 1 });
    await vi.waitFor(() => expect(told()).toEqual(['small']), soon);
  });
});

it('starts no task before the host has said all it has to say', async () => {
  const fresh = await FakeWorkspace.open({ isConfigured: false });
  try {
    fresh.host.assign({ taskUid: 'early', command: 'echo $FROM_GUEST' });
    await vi.waitFor(() => expect(fresh.host.storedSeq).toBe(1));
    expect(await fresh.poll()).toMatchObject({ results: [], pendingTasks: 1, running: [] });
    await fresh.configure();
    expect(await fresh.resultOf('early')).toMatchObject({ exitCode: 0, stdout: 'yes\n' });
  } finally {
    await fresh.close();
  }
});
