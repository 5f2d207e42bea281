import { describe, expect, it } from 'vitest';
import { hasLastApplied, LAST_APPLIED, lastAppliedOf, withLastApplied } from './last-applied.ts';

const config = {
  kind: 'Team',
  apiVersion: 'agentiso.dev/v1alpha1',
  spec: { roles: [{ name: 'worker', count: 2 }], description: 'a < b & c' },
  metadata: { namespace: 'default', name: 'x' },
};

const noteOf = (object: ReturnType<typeof withLastApplied>) =>
  (object['metadata'] as { annotations: Record<string, string> }).annotations[LAST_APPLIED];

describe('withLastApplied', () => {
  it('writes the bytes that kubectl writes', () => {
    expect(noteOf(withLastApplied(config))).toBe(
      '{"apiVersion":"agentiso.dev/v1alpha1","kind":"Team","metadata":{"annotations":{},"name":"x","namespace":"default"},' +
        '"spec":{"description":"a \\u003c b \\u0026 c","roles":[{"count":2,"name":"worker"}]}}\n',
    );
  });

  it('sorts keys that look like numbers as text', () => {
    expect(noteOf(withLastApplied({ spec: { 10: 'a', 9: 'b', A: 'c' } }))).toBe(
      '{"metadata":{"annotations":{}},"spec":{"10":"a","9":"b","A":"c"}}\n',
    );
  });

  it('does not note the note, and keeps other annotations', () => {
    const annotated = { ...config, metadata: { ...config.metadata, annotations: { z: '1' } } };
    const once = withLastApplied(annotated);
    expect(withLastApplied(once)).toEqual(once);
    expect(lastAppliedOf(once)).toEqual(annotated);
  });

  it('leaves what it was given as it was', () => {
    const before = structuredClone(config);
    withLastApplied(config);
    expect(config).toEqual(before);
  });
});

describe('lastAppliedOf', () => {
  it.each([
    { name: 'nothing', object: { metadata: {} }, has: false },
    { name: 'text that is no JSON', object: { metadata: { annotations: { [LAST_APPLIED]: '{' } } }, has: true },
    { name: 'JSON that is no object', object: { metadata: { annotations: { [LAST_APPLIED]: '3' } } }, has: true },
  ])('is undefined for $name', ({ object, has }) => {
    expect([lastAppliedOf(object), hasLastApplied(object)]).toEqual([undefined, has]);
  });
});
