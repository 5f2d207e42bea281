import { expect, it } from 'vitest';
import { UnavailableError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { boxFixture, newBox } from './box.fixture.ts';
import { countTurns } from './count-turns.fixture.ts';
import { eventExpiry } from './event-expiry.ts';
import { EventLog, type EventObject } from './events.ts';
import { interceptClient, testContext } from './testing.ts';

function setUp() {
  const time = { now: new Date('2026-01-01T00:00:00Z') };
  const clock = { now: () => time.now };
  const { client, store } = boxFixture({ clock });
  const events = new EventLog({ client, log: silentLogger, clock });
  const list = () => store.list('Event').items as readonly EventObject[];
  return { time, clock, client, events, list };
}

it('writes an event that names its object', async () => {
  const { client, events, list } = setUp();
  const box = await client.create(newBox('a'));
  events.recorder('box').normal(box, 'Made', 'a box was made');
  await events.flush();
  const { uid, resourceVersion } = box.metadata;
  expect(list()).toMatchObject([
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'default', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
      involvedObject: { apiVersion: 'test/v1', kind: 'Box', namespace: 'default', name: 'a', uid, resourceVersion },
      type: 'Normal',
      reason: 'Made',
      message: 'a box was made',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'box' },
      reportingComponent: 'box',
    },
  ]);
});

it('counts repetitions, also those of an earlier process', async () => {
  const { client, events, list, time, clock } = setUp();
  const box = await client.create(newBox('a'));
  for (let i = 0; i < 3; i++) events.recorder('box').warning(box, 'Failed', 'no room');
  await events.flush();
  time.now = new Date('2026-01-01T00:30:00Z');
  const restarted = new EventLog({ client, log: silentLogger, clock });
  restarted.recorder('box').warning(box, 'Failed', 'no room');
  await restarted.flush();
  expect(list()).toMatchObject([{ count: 4, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:30:00Z' }]);
});

it('tells objects, types, reasons, messages and components apart', async () => {
  const { client, events, list } = setUp();
  const [a, b] = [await client.create(newBox('a')), await client.create(newBox('b'))];
  const recorder = events.recorder('box');
  recorder.warning(a, 'R', 'm');
  recorder.warning(b, 'R', 'm');
  recorder.normal(a, 'R', 'm');
  recorder.warning(a, 'R2', 'm');
  recorder.warning(a, 'R', 'm2');
  events.recorder('other').warning(a, 'R', 'm');
  await events.flush();
  expect(list().map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1]);
});

it('keeps an event for an hour after its last repetition', async () => {
  const { client, events, list, time } = setUp();
  const box = await client.create(newBox('a'));
  events.recorder('box').normal(box, 'Old', '');
  events.recorder('box').normal(box, 'Repeated', '');
  await events.flush();
  time.now = new Date('2026-01-01T00:45:00Z');
  events.recorder('box').normal(box, 'Repeated', '');
  await events.flush();
  time.now = new Date('2026-01-01T01:00:01Z');
  await eventExpiry(client).sweep(testContext({ now: () => time.now }));
  expect(list().map(({ reason }) => reason)).toEqual(['Repeated']);
});

it('starts to count anew when the hour is over but the sweep has not come yet', async () => {
  const { client, events, list, time } = setUp();
  const box = await client.create(newBox('a'));
  events.recorder('box').normal(box, 'R', '');
  await events.flush();
  time.now = new Date('2026-01-01T02:00:00Z');
  events.recorder('box').normal(box, 'R', '');
  await events.flush();
  expect(list()).toMatchObject([{ count: 1, firstTimestamp: '2026-01-01T02:00:00Z' }]);
});

it('does not delete an event that is repeated while the sweep runs', async () => {
  const { client, events, list, time } = setUp();
  const box = await client.create(newBox('a'));
  events.recorder('box').normal(box, 'R', '');
  await events.flush();
  time.now = new Date('2026-01-01T02:00:00Z');
  const racing = interceptClient(client, async (verb) => {
    if (verb !== 'delete') return;
    events.recorder('box').normal(box, 'R', '');
    await events.flush();
  });
  await eventExpiry(racing).sweep(testContext({ now: () => time.now }));
  expect(list()).toHaveLength(1);
});

it('of thousands that expire together deletes a few at a time, so that others have their turn', async () => {
  const { client, events, list, time } = setUp();
  const box = await client.create(newBox('a'));
  for (let index = 0; index < 900; index++) events.recorder('box').normal(box, `R${index}`, '');
  await events.flush();
  time.now = new Date('2026-01-01T02:00:00Z');
  const turns = countTurns();
  const noting = interceptClient(client, (verb) => {
    if (verb === 'delete') turns.note();
  });
  await eventExpiry(noting).sweep(testContext({ now: () => time.now }));
  expect(list()).toHaveLength(0);
  expect(turns.end()).toBeLessThan(100);
});

it('never lets a failing write reach the controller, and goes on afterwards', async () => {
  const { client, clock, list } = setUp();
  const box = await client.create(newBox('a'));
  let fail = true;
  const failing = interceptClient(client, (verb) => {
    if (fail && verb === 'create') throw new UnavailableError('disk full');
  });
  const events = new EventLog({ client: failing, log: silentLogger, clock });
  events.recorder('box').normal(box, 'Lost', '');
  await events.flush();
  fail = false;
  events.recorder('box').normal(box, 'Kept', '');
  await events.flush();
  expect(list().map(({ reason }) => reason)).toEqual(['Kept']);
});

it('counts right when two processes write the same event', async () => {
  const { client, clock, list } = setUp();
  const box = await client.create(newBox('a'));
  const logs = [1, 2, 3].map(() => new EventLog({ client, log: silentLogger, clock }));
  for (const log of logs) log.recorder('box').normal(box, 'R', '');
  await Promise.all(logs.map((log) => log.flush()));
  expect(list()).toMatchObject([{ count: 3 }]);
});
