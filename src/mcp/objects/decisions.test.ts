import { describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { StatusError } from '#client/status-error.ts';
import { wordOf } from './agent-answer.ts';
import { changedFields } from './changed-fields.ts';
import { newWorkspaces } from './new-workspaces.ts';
import { manifestRefusal, toRefusal } from './refusal.ts';
import { cutText, fitting, shorten } from './shorten.ts';

const task = (planRequired: boolean, approved: string) =>
  ({ spec: { planRequired }, status: { conditions: [{ type: 'PlanApproved', status: approved }] } }) as unknown as Task;

it.each([
  { phase: undefined, held: [], want: 'starting' },
  { phase: 'Starting', held: [], want: 'starting' },
  { phase: 'Ready', held: [], want: 'idle' },
  { phase: 'Ready', held: [task(true, 'False')], want: 'waiting' },
  { phase: 'Ready', held: [task(true, 'True')], want: 'running' },
  { phase: 'Working', held: [], want: 'running' },
  { phase: 'Stopping', held: [], want: 'stopping' },
  { phase: 'Stopped', held: [], want: 'stopped' },
  { phase: 'Failed', held: [], want: 'dead' },
])('an agent that is $phase is $want', ({ phase, held, want }) => {
  expect(wordOf({ metadata: {}, status: { phase } } as unknown as Agent, held)).toBe(want);
});

it('an agent that is being deleted stops, whatever it says', () => {
  expect(wordOf({ metadata: { deletionTimestamp: 'x' }, status: { phase: 'Ready' } } as unknown as Agent, [])).toBe('stopping');
});

it.each([
  { name: 'nothing', before: { a: 1 }, after: { a: 1 }, want: [] },
  { name: 'a value', before: { a: 1 }, after: { a: 2 }, want: [{ path: 'a', from: '1', to: '2' }] },
  { name: 'a new item', before: { a: [1] }, after: { a: [1, { b: 2 }] }, want: [{ path: 'a[1]', to: '{"b":2}' }] },
  { name: 'what goes', before: { a: { b: 'x' } }, after: { a: {} }, want: [{ path: 'a.b', from: '"x"' }] },
  { name: 'another type', before: { a: [] }, after: { a: {} }, want: [{ path: 'a', from: '[]', to: '{}' }] },
])('finds $name', ({ before, after, want }) => {
  expect(changedFields(before, after)).toEqual(want);
});

const team = (name: string, count: number) =>
  ({ kind: 'Team', metadata: { name, namespace: 'default' }, spec: { roles: [{ name: 'a', count }] } }) as unknown as ApiObject;
const agent = { kind: 'Agent', metadata: { name: 'x-a-1', namespace: 'default' }, spec: {} } as unknown as ApiObject;

it.each([
  { name: 'all of a new team', changes: [{ object: team('x', 3) }], want: 3 },
  { name: 'only the new ones of a team', changes: [{ object: team('x', 3), live: team('x', 2) }], want: 1 },
  { name: 'other names after the first', changes: [{ object: team('x', 2), live: team('x', 1) }], want: 2 },
  { name: 'none of a smaller team', changes: [{ object: team('x', 2), live: team('x', 3) }], want: 0 },
  { name: 'an agent by hand', changes: [{ object: agent }], want: 1 },
  { name: 'an agent that its team makes too, once', changes: [{ object: team('x', 2) }, { object: agent }], want: 2 },
  { name: 'none for what is no agent', changes: [{ object: { ...agent, kind: 'Task' } }], want: 0 },
])('counts $name', ({ changes, want }) => {
  expect(newWorkspaces(changes)).toBe(want);
});

describe('refusals', () => {
  const status = (reason: string, message: string) =>
    new StatusError({ reason: 'Invalid', code: 422, message: 'no', details: { causes: [{ field: 'spec.x', reason, message }] } });

  it.each([
    { error: status('FieldValueForbidden', 'Forbidden: full (QuotaExceeded)'), want: 'QuotaExceeded' },
    { error: status('FieldValueForbidden', 'Forbidden: too deep (DepthExceeded)'), want: 'DepthExceeded' },
    { error: status('FieldValueNotFound', 'Not found: "x"'), want: 'NotFound' },
    { error: status('FieldValueInvalid', 'Invalid value: (QuotaExceeded) 3'), want: 'Invalid' },
  ])('have the code $want', ({ error, want }) => {
    expect(toRefusal(error)).toMatchObject({ code: want, message: 'no' });
  });

  it('leave alone what is none', () => {
    const bug = new TypeError('x');
    expect(toRefusal(bug, 'hint')).toBe(bug);
  });

  it('name the first field', () => {
    expect(manifestRefusal(['manifest:1:2: unknown field "spec.a"; x'], 'h').details).toEqual({ hint: 'h', field: 'spec.a' });
    expect(manifestRefusal(['manifest:1:2: spec.b[0].c: Invalid value: 3'], 'h').details.field).toBe('spec.b[0].c');
    expect(manifestRefusal(['manifest:1:2: no YAML at all'], 'h').details.field).toBeUndefined();
  });
});

it('cuts between characters and keeps what fits', () => {
  expect(cutText('aä€', 3)).toBe('aä… (3 bytes more)');
  expect(cutText('aä€', 2)).toBe('a… (5 bytes more)');
  expect(cutText('abc', 3)).toBe('abc');
  expect(fitting(['aaaa', 'b', 'c'], 12)).toEqual(['aaaa', 'b']);
  expect(fitting(['a'.repeat(100), 'b'], 12)).toEqual(['a'.repeat(100)]);
});

it('long texts are cut wherever they stand, and what has none is given back as it is', () => {
  const long = { spec: { list: [1, null, 'abcdefgh'] }, name: 'x' };
  expect(shorten(long, 6)).toEqual({ value: { spec: { list: [1, null, 'abcdef… (2 bytes more)'] }, name: 'x' }, isCut: true });
  expect(shorten({ text: 'äöü' }, 6)).toEqual({ value: { text: 'äöü' }, isCut: false });
  const short = { spec: { list: ['ab'] } };
  expect(shorten(short, 6).value).toBe(short);
});
