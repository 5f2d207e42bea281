import { expect, it } from 'vitest';
import type { Draft, KindObject } from '#api/meta.ts';
import { newBox } from './box.fixture.ts';
import { getCondition, isTrue, setCondition } from './conditions.ts';

const first = new Date('2026-01-01T00:00:00.900Z');
const later = new Date('2026-01-01T01:00:00Z');

function box(status?: unknown): KindObject {
  const draft: Draft = newBox('a');
  const metadata = {
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    generation: 4,
    creationTimestamp: '',
    ...draft.metadata,
    name: 'a',
  };
  return status === undefined ? { ...draft, metadata } : { ...draft, metadata, status };
}

it('adds a condition with time and generation, beside what the status already has', () => {
  const object = box({ size: 1 });
  setCondition(object, { type: 'Ready', status: 'True', reason: 'Made', message: 'm' }, first);
  const want = {
    type: 'Ready',
    status: 'True',
    reason: 'Made',
    message: 'm',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 4,
  };
  expect(object.status).toEqual({ size: 1, conditions: [want] });
});

it('moves lastTransitionTime only when the status moves', () => {
  const object = box();
  setCondition(object, { type: 'Ready', status: 'False', reason: 'A', message: '' }, first);
  setCondition(object, { type: 'Ready', status: 'False', reason: 'B', message: 'new' }, later);
  expect(getCondition(object, 'Ready')).toMatchObject({ reason: 'B', message: 'new', lastTransitionTime: '2026-01-01T00:00:00Z' });
  setCondition(object, { type: 'Ready', status: 'True', reason: 'B', message: '' }, later);
  expect(getCondition(object, 'Ready')?.lastTransitionTime).toBe('2026-01-01T01:00:00Z');
});

it('keeps the order of conditions', () => {
  const object = box();
  for (const type of ['B', 'A', 'B']) setCondition(object, { type, status: 'True', reason: 'R', message: '' }, first);
  expect((object.status as { conditions: { type: string }[] }).conditions.map(({ type }) => type)).toEqual(['B', 'A']);
});

it('says no more than it knows', () => {
  expect(getCondition(box(), 'Ready')).toBeUndefined();
  expect(isTrue(box({ conditions: 'nonsense' }), 'Ready')).toBe(false);
  expect(isTrue(box({ conditions: [{ type: 'Ready', status: 'True' }] }), 'Ready')).toBe(true);
  expect(isTrue(box({ conditions: [{ type: 'Ready', status: 'Unknown' }] }), 'Ready')).toBe(false);
});
