import { describe, expect, it } from 'vitest';
import { fakeDriver } from '../../../test/support/fake-driver.ts';
import { fakeSessions } from '../../../test/support/fake-sessions.ts';
import { connectedSession, toLogsParams } from './agent-io.ts';

const AGENT = { namespace: 'default', name: 'one', uid: 'uid-1' };
const SPEC = {
  id: AGENT.uid,
  hostname: 'one',
  incarnation: 'run-1',
  resources: { vcpus: 1, memoryMiB: 64, diskGiB: 1 },
  team: 1,
  egress: false,
};
const { signal } = new AbortController();

describe('an agent that is asked for something', () => {
  it('is waited for while its workspace runs and its session is not there yet, as after a start of the daemon', async () => {
    const sessions = fakeSessions();
    const driver = fakeDriver();
    await driver.create(SPEC, signal);
    const asked = connectedSession(AGENT, { sessions, driverOf: () => driver }, signal);
    sessions.connectsAtOnce = false;
    const session = sessions.ensure(AGENT.uid, 'run-1');
    sessions.set(AGENT.uid, { isControlOpen: true });
    expect(await asked).toBe(session);
  });

  it('is not waited for when nothing of it runs', async () => {
    const sessions = fakeSessions();
    const driver = fakeDriver();
    const why = 'agent one cannot be reached: its workspace does not run';
    for (const driverOf of [() => undefined, () => driver]) {
      await expect(connectedSession(AGENT, { sessions, driverOf }, signal)).rejects.toMatchObject({ code: 'Unavailable', message: why });
    }
  });

  it('is not waited for while it is suspended, and how to let it go on is said', async () => {
    const driver = fakeDriver({ canRest: true });
    await driver.create(SPEC, signal);
    await driver.suspension?.suspend(SPEC.id, signal);
    await expect(connectedSession(AGENT, { sessions: fakeSessions(), driverOf: () => driver }, signal)).rejects.toMatchObject({
      code: 'Unavailable',
      reason: 'AgentSuspended',
      message: 'agent one is suspended; to let it go on: agentiso resume one',
    });
  });

  it('is given up with the reason when it stays away', async () => {
    const sessions = fakeSessions();
    sessions.connectsAtOnce = false;
    sessions.ensure(AGENT.uid, 'run-1');
    const driver = fakeDriver();
    await driver.create(SPEC, signal);
    const asked = connectedSession(AGENT, { sessions, driverOf: () => driver, waitMs: 10 }, signal);
    await expect(asked).rejects.toMatchObject({ code: 'Unavailable', message: 'agent one cannot be reached: nobody listens' });
  });
});

describe('a log that is asked for', () => {
  const query = { timestamps: false, follow: true, tailLines: 3 };

  it('since a time is asked of the guest by its age', () => {
    expect(toLogsParams({ ...query, sinceMs: 9_000 }, 10_000)).toEqual({ ...query, maxAgeMs: 1_000 });
    expect(toLogsParams({ ...query, sinceMs: 11_000 }, 10_000)).toEqual({ ...query, maxAgeMs: 0 });
    expect(toLogsParams(query, 10_000)).toEqual(query);
  });

  it('of an earlier run is not there by itself', () => {
    expect(() => toLogsParams({ ...query, previous: true }, 0)).toThrow(expect.objectContaining({ code: 'NotFound' }));
  });
});
