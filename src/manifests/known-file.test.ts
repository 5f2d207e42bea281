import { describe, expect, it } from 'vitest';
import { isUpToDate, type KnownFile, nextKnown } from './known-file.ts';
import type { ReadText } from './read-text.ts';

const NOW = 1_000_000;
const file = (stamp: string, changedAtMs = NOW - 60_000) => ({ name: 'a.yaml', path: '/d/a.yaml', stamp, size: 1, changedAtMs });

function task(name: string): string {
  return `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: ${name}}\nspec: {team: crew, command: "true"}\n`;
}

function shown({ documents, content, unfinishedForMs }: KnownFile) {
  return {
    documents: documents.map(({ key }) => key.name),
    complaints: content.complaints.map(({ line, message }) => `${line}: ${message}`),
    isUnknown: content.isUnknown,
    unfinishedForMs,
  };
}

const good = nextKnown(undefined, file('1'), { text: `${task('a')}---\n${task('b')}` }, NOW);
const RIGHT = { complaints: [], isUnknown: false, unfinishedForMs: 0 };

describe('what is known of a manifest file', () => {
  it('is what it declares', () => {
    expect(shown(good)).toEqual({ ...RIGHT, documents: ['a', 'b'] });
  });

  const texts: [string, ReadText, object][] = [
    ['fewer documents', { text: task('a') }, { ...RIGHT, documents: ['a'] }],
    [
      'one wrong document',
      { text: `${task('a')}---\n${task('c').replace('team', 'taem')}` },
      {
        documents: ['a', 'b'],
        isUnknown: false,
        unfinishedForMs: 0,
        complaints: ['9: unknown field "spec.taem"; did you mean "team"?', '9: spec.team: Required value'],
      },
    ],
    [
      'a syntax error',
      { text: 'kind: [\n' },
      { documents: ['a', 'b'], isUnknown: true, unfinishedForMs: 0, complaints: [expect.stringMatching(/^\d: /)] },
    ],
    ['no access', { why: 'EACCES' }, { documents: ['a', 'b'], isUnknown: true, unfinishedForMs: 0, complaints: ['1: EACCES'] }],
    ['a change while it is read', { isMoving: true }, { documents: ['a', 'b'], isUnknown: true, unfinishedForMs: 100, complaints: [] }],
    ['nothing in it', { text: '\n' }, { documents: ['a', 'b'], isUnknown: true, unfinishedForMs: 10_000, complaints: [] }],
    [
      'an end within a line',
      { text: task('a').trimEnd() },
      { documents: ['a', 'b'], isUnknown: true, unfinishedForMs: 2_000, complaints: [] },
    ],
  ];
  it.each(texts)('after a save with %s', (_, text, want) => {
    const { isUnknown, documents, complaints, unfinishedForMs } = shown(nextKnown(good, file('2'), text, NOW));
    expect({ documents, complaints, isUnknown, unfinishedForMs }).toEqual(want);
  });

  it('believes an unfinished text that stays', () => {
    const blank = nextKnown(good, file('2'), { text: '' }, NOW);
    expect(isUpToDate(blank, file('2'))).toBe(false);
    expect(shown(nextKnown(blank, file('2'), { text: '' }, NOW + 9_999)).unfinishedForMs).toBe(1);
    expect(shown(nextKnown(blank, file('2'), { text: '' }, NOW + 10_000))).toEqual({ ...RIGHT, documents: [] });
  });

  it('starts to wait again when an unfinished text grows', () => {
    const blank = nextKnown(good, file('2'), { text: '' }, NOW);
    expect(shown(nextKnown(blank, file('3'), { text: 'kind: T' }, NOW + 9_000)).unfinishedForMs).toBe(2_000);
    expect(shown(nextKnown(blank, file('3'), { text: task('b') }, NOW + 9_000))).toEqual({ ...RIGHT, documents: ['b'] });
  });

  it('takes a text without a last newline at once where it never had one', () => {
    const first = nextKnown(undefined, file('1'), { text: task('a').trimEnd() }, NOW);
    expect(shown(first)).toEqual({ ...RIGHT, documents: ['a'] });
    expect(shown(nextKnown(first, file('2'), { text: task('b').trimEnd() }, NOW))).toEqual({ ...RIGHT, documents: ['b'] });
  });

  it('keeps the very documents of a file that was only touched, so that nothing is applied again', () => {
    expect(nextKnown(good, file('2'), { text: `${task('a')}---\n${task('b')}` }, NOW).documents).toBe(good.documents);
  });

  it('is read again when it changed so recently that the clock may not tell a second change', () => {
    const young = nextKnown(undefined, file('1', NOW - 20), { text: task('a') }, NOW);
    expect(isUpToDate(young, file('1'))).toBe(false);
    expect(isUpToDate(good, file('1'))).toBe(true);
    expect(isUpToDate(good, file('2'))).toBe(false);
  });

  it('ignores status and what the server sets, as a manifest from get -o yaml has it', () => {
    const text = `${task('a').replace('{name: a}', '{name: a, uid: u, resourceVersion: "9", generation: 3, labels: {l: v}}')}status: {phase: Succeeded}\n`;
    expect(nextKnown(undefined, file('1'), { text }, NOW).documents[0]?.config).toEqual({
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Task',
      metadata: { name: 'a', namespace: 'default', labels: { l: 'v' } },
      spec: { team: 'crew', command: 'true' },
    });
  });
});
