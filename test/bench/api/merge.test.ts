import { describe, expect, it } from 'vitest';
import { makeMerge, revisionText, versionOf, withRevision } from './merge.ts';

describe('the object of the API benchmarks', () => {
  const json = JSON.stringify({ ...makeMerge(7), metadata: { ...makeMerge(7).metadata, resourceVersion: '42' } });

  it('changes its bytes with every revision, but not their number', () => {
    const [first, second] = [withRevision(json, 1), withRevision(json, 12_345_678)];
    expect(first).not.toBe(second);
    expect(first).toHaveLength(second.length);
    expect(JSON.parse(second)).toMatchObject({ spec: { commitMessage: revisionText(12_345_678) } });
  });

  it('says so when there is nothing to change', () => {
    expect(() => withRevision('{}', 1)).toThrow('no revision');
  });

  it('knows the version of an answer, and that there is none', () => {
    expect(versionOf(json)).toBe(42);
    expect(versionOf('{}')).toBeNaN();
  });
});
