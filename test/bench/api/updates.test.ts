import { describe, expect, it } from 'vitest';
import { makeMerge, revisionText, withRevision } from './merge.ts';
import { makeUpdates } from './updates.ts';

const stored = (version: number) =>
  JSON.stringify({ ...makeMerge(0), metadata: { ...makeMerge(0).metadata, resourceVersion: String(version) } });
const reply = (text: string) => ({ status: 200, length: text.length, body: () => Buffer.from(text) });

describe('updates', () => {
  it('send what was answered last, with a value that was never there', () => {
    const updates = makeUpdates([stored(7)]);
    const first = updates.next(0);
    expect(first.request).toContain('"resourceVersion":"7"');
    updates.accept(first, reply(withRevision(stored(8), first.revision)));
    const second = updates.next(1);
    expect(second.index).toBe(0);
    expect(second.request).toContain('"resourceVersion":"8"');
    expect(second.request).toContain(revisionText(second.revision));
    expect(second.revision).not.toBe(first.revision);
  });

  it.each([
    { name: 'the version that was there', text: (revision: number) => withRevision(stored(7), revision) },
    { name: 'a value that was not sent', text: (revision: number) => withRevision(stored(8), revision + 1) },
    { name: 'no object', text: () => '{}' },
  ])('refuse an answer with $name', ({ text }) => {
    const updates = makeUpdates([stored(7)]);
    const update = updates.next(0);
    expect(() => updates.accept(update, reply(text(update.revision)))).toThrow('something else');
  });
});
