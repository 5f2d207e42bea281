/** Events over the wire: one set of them, under the names of two groups. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPLY, askServer, MERGE, STRATEGIC } from './asking.fixture.ts';

const CORE = '/api/v1/namespaces/default/events';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const regarding = { kind: 'ConfigMap', name: 'box', namespace: 'default' };

const coreEvent = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  involvedObject: regarding,
  reason: 'Test',
  message: 'said',
  type: 'Normal',
  ...more,
});
const event = (name: string, more: object = {}) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name },
  regarding,
  reason: 'Test',
  note: 'said',
  eventTime: '2026-01-02T03:04:05.000006Z',
  reportingController: 'test.dev/me',
  reportingInstance: 'me-1',
  action: 'Say',
  type: 'Normal',
  ...more,
});

let server: Awaited<ReturnType<typeof askServer>>;

beforeAll(async () => {
  server = await askServer();
});

afterAll(() => server.stop());

describe('an event of events.k8s.io', () => {
  it('is one of the core group too', async () => {
    const { code, body } = await server.ask(EVENTS, { method: 'POST', body: event('made') });
    expect({ code, body }).toMatchObject({ code: 201, body: event('made') });
    expect(body.metadata).not.toHaveProperty('generation');
    const core = (await server.ask(`${CORE}/made`)).body;
    expect(core).toMatchObject({ apiVersion: 'v1', message: 'said', involvedObject: regarding, reportingComponent: 'test.dev/me' });
    expect(core).not.toHaveProperty('note');
  });

  it('can be patched, replaced, applied and deleted, but says what it said', async () => {
    await server.ask(EVENTS, { method: 'POST', body: event('changed') });
    const series = { count: 2, lastObservedTime: '2026-01-02T03:04:05.000007Z' };
    const patched = await server.ask(`${EVENTS}/changed`, { ...STRATEGIC, body: { series } });
    expect(patched).toMatchObject({ code: 200, body: { series, note: 'said' } });
    const refused = await server.ask(`${EVENTS}/changed`, { ...STRATEGIC, body: { note: 'patched' } });
    const message = 'Event "changed" is invalid: message: Invalid value: "patched": field is immutable';
    expect(refused).toMatchObject({ code: 422, body: { message } });
    const replaced = await server.ask(`${EVENTS}/changed`, { method: 'PUT', body: { ...patched.body, series: { ...series, count: 3 } } });
    expect(replaced).toMatchObject({ code: 200, body: { apiVersion: 'events.k8s.io/v1', series: { ...series, count: 3 } } });
    const applied = await server.ask(`${EVENTS}/changed?fieldManager=a&force=true`, {
      ...APPLY,
      body: event('changed', { series: { ...series, count: 4 } }),
    });
    expect(applied).toMatchObject({ code: 200, body: { note: 'said', regarding } });
    expect((await server.ask(`${CORE}/changed`)).body).toMatchObject({ message: 'said', series: { count: 4 } });
    expect((await server.ask(`${EVENTS}/changed`, { method: 'DELETE' })).code).toBe(200);
    expect((await server.ask(`${CORE}/changed`)).code).toBe(404);
  });

  it('does not know the words of the other group', async () => {
    const refused = await server.ask(`${EVENTS}?fieldValidation=Strict`, { method: 'POST', body: event('words', { message: 'x' }) });
    expect(refused).toMatchObject({ code: 400, body: { message: expect.stringContaining('unknown field "message"') } });
  });

  it('is deleted with all others of its label', async () => {
    await server.ask(EVENTS, { method: 'POST', body: { ...event('all'), metadata: { name: 'all', labels: { a: 'b' } } } });
    expect((await server.ask(`${EVENTS}?labelSelector=a%3Db`, { method: 'DELETE' })).code).toBe(200);
    expect((await server.ask(`${CORE}/all`)).code).toBe(404);
    expect((await server.ask(`${CORE}?labelSelector=a%3Db`)).body.items).toEqual([]);
  });
});

describe('an event of the core group', () => {
  it.each([
    ['another namespace', { namespace: 'other' }, '"other"'],
    ['no namespace', { namespace: undefined }, '""'],
  ])('about an object of %s is refused outside of it', async (_, reference, shown) => {
    await server.ask('/api/v1/namespaces', { method: 'POST', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'events' } } });
    const body = coreEvent('strange', { involvedObject: { ...regarding, ...reference } });
    const refused = await server.ask(CORE.replace('default', 'events'), { method: 'POST', body });
    const message = `Event "strange" is invalid: involvedObject.namespace: Invalid value: ${shown}: does not match event.namespace`;
    expect(refused).toMatchObject({ code: 422, body: { message } });
  });

  it('is found by its source, or by who reported it', async () => {
    await server.ask(CORE, { method: 'POST', body: coreEvent('old', { source: { component: 'finder' } }) });
    await server.ask(CORE, { method: 'POST', body: coreEvent('new', { reportingComponent: 'finder' }) });
    await server.ask(CORE, { method: 'POST', body: coreEvent('both', { source: { component: 'x' }, reportingComponent: 'finder' }) });
    const { items } = (await server.ask(`${CORE}?fieldSelector=source%3Dfinder`)).body;
    expect(items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['new', 'old']);
  });

  it('has times, or none, whoever writes it and how', async () => {
    const made = await server.ask(CORE, { method: 'POST', body: coreEvent('timed', { lastTimestamp: '2026-01-02T04:04:05.6+01:00' }) });
    expect(made.body).toMatchObject({ firstTimestamp: null, lastTimestamp: '2026-01-02T03:04:05Z', eventTime: null, source: {} });
    // One that cannot be read would take every list of events from those who read it into types.
    const unread = { lastTimestamp: 'soon' };
    expect((await server.ask(CORE, { method: 'POST', body: coreEvent('unread', unread) })).code).toBe(400);
    expect((await server.ask(`${CORE}/timed`, { method: 'PUT', body: coreEvent('timed', unread) })).code).toBe(400);
    expect((await server.ask(`${CORE}/timed`, { ...MERGE, body: unread })).code).toBe(422);
    expect((await server.ask(`${CORE}/timed?fieldManager=a&force=true`, { ...APPLY, body: coreEvent('timed', unread) })).code).toBe(500);
    expect((await server.ask(`${CORE}/timed`)).body.lastTimestamp).toBe('2026-01-02T03:04:05Z');
  });

  it('needs a name that is one', async () => {
    expect((await server.ask(CORE, { method: 'POST', body: coreEvent('A b') })).code).toBe(422);
    const { code, body } = await server.ask(CORE, { method: 'POST', body: coreEvent('', { metadata: { generateName: 'made-' } }) });
    expect({ code, name: body.metadata.name }).toEqual({ code: 201, name: expect.stringMatching(/^made-/) });
    const patched = await server.ask(`${CORE}/${body.metadata.name}`, { ...MERGE, body: { count: 2 } });
    expect(patched.body).toMatchObject({ count: 2 });
  });
});
