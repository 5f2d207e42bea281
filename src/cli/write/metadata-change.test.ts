import { describe, expect, it } from 'vitest';
import { metadataPatch, parseMetadataChange, refusedOverwrites } from './metadata-change.ts';

describe('parseMetadataChange', () => {
  it('tells the objects from the changes', () => {
    expect(parseMetadataChange(['team', 'x', 'y', 'a=1', 'b=', 'c-', 'd=e=f'], 'annotations')).toEqual({
      targets: ['team', 'x', 'y'],
      change: { field: 'annotations', set: { a: '1', b: '', d: 'e=f' }, remove: ['c'] },
    });
  });

  it.each([
    { args: ['team', 'x', 'a=1', 'y'], field: 'labels', want: 'all resources must be specified before label changes: y' },
    { args: ['team', 'x', 'a=1', 'y'], field: 'annotations', want: 'all resources must be specified before annotation changes: y' },
    { args: ['team', 'x', 'a=1', 'a-'], field: 'labels', want: 'can not both modify and remove a label in the same command' },
    {
      args: ['team', 'x', 'a=1', 'a-'],
      field: 'annotations',
      want: 'can not both modify and remove the following annotation(s) in the same command: a',
    },
    { args: ['team', 'x', 'a=b c'], field: 'labels', want: 'invalid label value: "a=b c": a valid label must be' },
    { args: ['team', 'x', `a=${'b'.repeat(64)}`], field: 'labels', want: 'invalid label value' },
    { args: ['team', 'x', 'a b=c'], field: 'labels', want: 'label key "a b" is not valid' },
    { args: ['team', 'x', 'a/b/c=d'], field: 'annotations', want: 'annotation key "a/b/c" is not valid' },
  ] as const)('refuses $args of $field', ({ args, field, want }) => {
    expect(() => parseMetadataChange(args, field)).toThrow(want);
  });

  it('takes any text as an annotation, and keys with a prefix', () => {
    const { change } = parseMetadataChange(['team/x', 'example.com/note=any text: at all'], 'annotations');
    expect(change.set).toEqual({ 'example.com/note': 'any text: at all' });
  });
});

const change = { field: 'labels', set: { a: '1', b: '2' }, remove: ['c', 'd'] } as const;

describe('refusedOverwrites', () => {
  it('lets equal values be, and names the others as kubectl does', () => {
    expect(refusedOverwrites({ a: '1', b: '9' }, change)).toEqual(["'b' already has a value (9), and --overwrite is false"]);
    expect(refusedOverwrites({}, change)).toEqual([]);
  });
});

describe('metadataPatch', () => {
  it('says only what is different', () => {
    expect(metadataPatch({ a: '1', c: '3' }, change)).toEqual({ metadata: { labels: { b: '2', c: null } } });
    expect(metadataPatch({ a: '1', b: '2' }, change)).toBeUndefined();
    expect(metadataPatch({ a: '1' }, change, '7')).toEqual({ metadata: { resourceVersion: '7', labels: { b: '2' } } });
  });

  it('does not take what every JavaScript object has for a label', () => {
    expect(metadataPatch({}, { field: 'labels', set: {}, remove: ['constructor'] })).toBeUndefined();
  });
});
