import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventTableFormat } from './event-table.ts';
import { coreFieldLabel, eventFieldValue, eventsFieldLabel, toCoreEvent, toEventsV1 } from './events.ts';
import { tableOf } from './table.ts';

const core = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'x.17a', namespace: 'default' },
  involvedObject: {
    kind: 'Task',
    name: 'x',
    namespace: 'default',
    uid: 'u',
    apiVersion: 'agentiso.dev/v1alpha1',
    fieldPath: 'spec.steps[0]',
  },
  type: 'Warning',
  reason: 'Failed',
  message: ' It broke.\n',
  source: { component: 'task-controller' },
  firstTimestamp: '2026-11-16T11:00:00Z',
  lastTimestamp: '2026-11-16T11:59:00Z',
  count: 3,
  eventTime: null,
  reportingComponent: 'task-controller',
  reportingInstance: 'host-1',
  action: 'Run',
  related: { kind: 'Agent', name: 'a' },
  series: { count: 5, lastObservedTime: '2026-11-16T11:59:30.000000Z' },
};

const projected = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: core.metadata,
  regarding: core.involvedObject,
  type: 'Warning',
  reason: 'Failed',
  note: core.message,
  deprecatedSource: core.source,
  deprecatedFirstTimestamp: core.firstTimestamp,
  deprecatedLastTimestamp: core.lastTimestamp,
  deprecatedCount: 3,
  eventTime: null,
  reportingController: 'task-controller',
  reportingInstance: 'host-1',
  action: 'Run',
  related: core.related,
  series: core.series,
};

describe('an Event of events.k8s.io', () => {
  it('has the fields of the core Event under its own names', () => {
    expect(toEventsV1(core)).toEqual(projected);
  });

  it('comes back as it was', () => {
    expect(toCoreEvent(toEventsV1(core))).toEqual(core);
    fc.assert(
      fc.property(fc.subarray(Object.keys(core)), (keys) => {
        const event = Object.fromEntries(Object.entries(core).filter(([key]) => keys.includes(key)));
        expect(toCoreEvent(toEventsV1(event))).toEqual({ eventTime: null, involvedObject: {}, ...event, apiVersion: 'v1' });
      }),
    );
  });
});

describe('field selectors on events', () => {
  it.each([
    ['regarding.name', 'involvedObject.name'],
    ['regarding.uid', 'involvedObject.uid'],
    ['regarding.fieldPath', 'involvedObject.fieldPath'],
    ['reportingController', 'reportingComponent'],
    ['reason', 'reason'],
    ['type', 'type'],
    ['metadata.name', 'metadata.name'],
  ])('%s means %s', (events, label) => {
    expect(coreFieldLabel(events)).toBe(label);
    expect(eventsFieldLabel(label)).toBe(events);
  });

  it('do not know the fields of the other API', () => {
    for (const label of ['involvedObject.name', 'reportingComponent', 'source', 'note', '__proto__'])
      expect(coreFieldLabel(label)).toBeUndefined();
    expect(eventsFieldLabel('source')).toBeUndefined();
  });

  it('compare with the text of the field', () => {
    expect(eventFieldValue(core, 'involvedObject.name')).toBe('x');
    expect(eventFieldValue(core, 'metadata.namespace')).toBe('default');
    expect(eventFieldValue(core, 'involvedObject.resourceVersion')).toBe('');
    expect(eventFieldValue(core, 'source')).toBe('task-controller');
    expect(eventFieldValue({ reportingComponent: 'new-style' }, 'source')).toBe('new-style');
  });
});

describe('the table of events', () => {
  const now = new Date('2026-11-16T12:00:00Z');
  const cells = (event: object) =>
    tableOf(eventTableFormat, [event], { listMeta: {}, includeObject: 'None', now, version: 'v1', withHeaders: true }).rows[0]?.cells;
  const { series, ...single } = core;

  it('has the columns of a real server', () => {
    expect(eventTableFormat.headers.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
      'Last Seen 0',
      'Type 0',
      'Reason 0',
      'Object 0',
      'Subobject 1',
      'Source 1',
      'Message 0',
      'First Seen 1',
      'Count 1',
      'Name 1',
    ]);
  });

  it('prints an event that happened several times', () => {
    const expected = ['60s', 'Warning', 'Failed', 'task/x', 'spec.steps[0]', 'task-controller, host-1', 'It broke.', '60m', 3, 'x.17a'];
    expect(cells(single)).toEqual(expected);
    expect(cells(toEventsV1(single))).toEqual(expected);
  });

  it('takes time and count from a series', () => {
    expect(cells({ ...single, series })?.[0]).toBe('30s');
    expect(cells({ ...single, series })?.[8]).toBe(5);
  });

  it('falls back on the first time, then on the time of the event', () => {
    expect(cells({ ...single, lastTimestamp: null })?.[0]).toBe('60m');
    expect(cells({ eventTime: '2026-11-16T11:58:00.123456Z' })).toEqual(['119s', '', '', '', '', '', '', '119s', 1, '']);
    expect(cells({ involvedObject: { kind: 'Node' } })).toEqual(['<unknown>', '', '', 'node', '', '', '', '<unknown>', 1, '']);
  });
});
