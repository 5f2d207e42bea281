import { describe, expect, it } from 'vitest';
import { parseManifest } from '#api/manifest.ts';
import { ConflictError, InvalidError } from '#lib/errors.ts';
import { describeRefusal, parseEdit, refusalOf } from './edit.ts';

const KEY = { kind: 'Team', namespace: 'default', name: 'a' };
const GOOD = 'apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata:\n  name: a\nspec:\n  roles: []\n';

function refusal(text: string, key = KEY): string {
  const edit = parseEdit(key, text);
  return 'refusal' in edit ? `${edit.refusal.reason}: ${describeRefusal(edit.refusal)}` : 'accepted';
}

describe('parseEdit', () => {
  it.each([
    { name: 'a document without a namespace', text: GOOD },
    { name: 'a document with the namespace of its folder', text: GOOD.replace('name: a\n', 'name: a\n  namespace: default\n') },
  ])('accepts $name', ({ text }) => {
    expect(refusal(text)).toBe('accepted');
  });

  it.each([
    { name: 'nothing', text: '# empty\n', want: 'InvalidYaml: line 1: the file is empty; expected one resource' },
    {
      name: 'a second document',
      text: `${GOOD}---\nkind: Team\n`,
      want: 'InvalidEdit: line 8: a second document; the store keeps one object per file',
    },
    { name: 'a duplicate key', text: `${GOOD}kind: Team\n`, want: 'InvalidYaml: line 7: duplicate key "kind"; keep one of them' },
    {
      name: 'another kind',
      text: GOOD.replace('Team', 'Task'),
      want: 'InvalidEdit: line 2: kind is "Task", but files in this folder are of kind Team',
    },
    {
      name: 'no kind',
      text: 'metadata: {name: a}\n',
      want: 'InvalidEdit: line 1: kind is null, but files in this folder are of kind Team',
    },
    {
      name: 'another name',
      text: GOOD.replace('name: a', 'name: b'),
      want: 'InvalidEdit: line 4: metadata.name is "b", but the file is called a.yaml; both must be the same',
    },
    {
      name: 'no name',
      text: 'kind: Team\nmetadata: {}\n',
      want: 'InvalidEdit: line 2: metadata.name is null, but the file is called a.yaml; both must be the same',
    },
    {
      name: 'another namespace',
      text: GOOD.replace('name: a\n', 'name: a\n  namespace: prod\n'),
      want: 'InvalidEdit: line 5: metadata.namespace is "prod", but the file is in the folder default; both must be the same',
    },
  ])('refuses $name', ({ text, want }) => {
    expect(refusal(text)).toBe(want);
  });

  it('refuses a file whose own name is no name', () => {
    expect(refusal(GOOD, { ...KEY, name: 'My Team' })).toBe(
      'InvalidEdit: line 4: the file name "My Team" is not a name; use lower-case letters, digits and -, at most 63 characters',
    );
  });
});

describe('refusalOf', () => {
  const document = parseManifest(GOOD).documents[0];
  if (!document) throw new Error('no document');

  it('puts the line of its field before each complaint of the store', () => {
    const fields = [
      { path: 'spec.roles', segments: ['spec', 'roles'], kind: 'Invalid' as const, message: 'too short' },
      { path: 'spec.colour', segments: ['spec', 'colour'], kind: 'Unknown' as const, message: 'unknown field "spec.colour"' },
    ];
    const made = refusalOf(new InvalidError('both', fields), document);
    expect([made.reason, describeRefusal(made)]).toEqual([
      'InvalidEdit',
      'line 6: spec.roles: too short; line 5: unknown field "spec.colour"',
    ]);
  });

  it.each([
    {
      name: 'keeps a reason of its own',
      error: new InvalidError('clash', [], { reason: 'EditConflict' }),
      want: ['EditConflict', 'line 1: clash'],
    },
    { name: 'calls a conflict one', error: new ConflictError('too late'), want: ['EditConflict', 'line 1: too late'] },
  ])('$name', ({ error, want }) => {
    const made = refusalOf(error, document);
    expect([made.reason, describeRefusal(made)]).toEqual(want);
  });
});
