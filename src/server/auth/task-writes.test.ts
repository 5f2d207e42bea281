import { describe, expect, it } from 'vitest';
import type { KindObject, ObjectMeta } from '#api/meta.ts';
import { authorise } from './authorise.ts';
import { agentIdentity } from './identity.ts';
import { objectOf } from './objects.fixture.ts';

const coder = agentIdentity({ namespace: 'default', team: 'sprint', name: 'coder' });
const lead = agentIdentity({ namespace: 'default', team: 'sprint', name: 'lead' });
const where = { group: 'agentiso.dev', version: 'v1alpha1', resource: 'tasks', namespace: 'default' };

const task = (spec: object = {}, metadata: Partial<ObjectMeta> = {}): KindObject => {
  const plain = objectOf('Task');
  return { ...plain, metadata: { ...plain.metadata, ...metadata }, spec: { ...(plain.spec as object), ...spec } };
};
const owner = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', name: 'sprint', uid: '1', blockOwnerDeletion: true };

describe('creating a Task', () => {
  it.each([
    ['a plain request', task(), undefined, undefined],
    ['a generated name of the team', task({}, { name: '', generateName: 'sprint-help-' }), undefined, undefined],
    ['nothing in the fields of the lead', task({ assignTo: null, command: null, verify: [] }), undefined, undefined],
    ['work for somebody', task({ assignTo: 'tester' }), 'only the lead of a team may set spec.assignTo', undefined],
    ['a command', task({ command: 'make' }), 'only the lead of a team may set spec.command', undefined],
    ['commands that check it', task({ verify: ['make'] }), 'only the lead of a team may set spec.verify', undefined],
    [
      'a name that another team may need',
      task({}, { name: 'other-1' }),
      'the name of a Task that an agent creates starts with sprint-',
      'same',
    ],
    [
      'a name that only begins like the team',
      task({}, { name: 'sprinter' }),
      'the name of a Task that an agent creates starts with sprint-',
      'same',
    ],
    ['no name', task({}, { name: '' }), 'the name of a Task that an agent creates starts with sprint-', 'same'],
    ['a finalizer', task({}, { finalizers: ['x/y'] }), 'an agent may not set metadata.finalizers', 'same'],
    ['an owner', task({}, { ownerReferences: [owner] }), 'an agent may not set metadata.ownerReferences', 'same'],
  ])('with %s', (_, object, ofCoder, ofLead) => {
    expect(authorise(coder, { ...where, verb: 'create', object })).toMatchObject({
      allowed: ofCoder === undefined,
      ...(ofCoder && { reason: ofCoder }),
    });
    expect(authorise(lead, { ...where, verb: 'create', object }).allowed).toBe(ofLead === undefined);
  });

  it('is not a way to write another kind', () => {
    expect(authorise(coder, { ...where, verb: 'create', object: objectOf('Team') }).allowed).toBe(false);
    expect(authorise(lead, { ...where, verb: 'create', object: objectOf('Agent') }).allowed).toBe(false);
  });
});

describe.each(['update', 'patch'])('%s of a Task by the lead', (verb) => {
  const stored = task({}, { finalizers: ['agentiso.dev/task'], ownerReferences: [owner] });
  const change = (changed: KindObject) => authorise(lead, { ...where, verb, object: stored, changed }).allowed;

  it.each([
    ['reassigns it', { ...stored, spec: { team: 'sprint', assignTo: 'tester' } }, true],
    ['cancels it', { ...stored, spec: { team: 'sprint', cancelled: true } }, true],
    ['labels it', { ...stored, metadata: { ...stored.metadata, labels: { a: 'b' } } }, true],
    ['moves it to another team', { ...stored, spec: { team: 'other' } }, false],
    ['removes its finalizer', { ...stored, metadata: { ...stored.metadata, finalizers: [] } }, false],
    ['takes it from its owner', { ...stored, metadata: { ...stored.metadata, ownerReferences: [] } }, false],
  ])('that %s', (_, changed, expected) => {
    expect(change(changed)).toBe(expected);
  });

  it('keeps a name that the admin gave', () => {
    const named = task({}, { name: 'design' });
    expect(authorise(lead, { ...where, verb, object: named, changed: named }).allowed).toBe(true);
  });

  it('takes no Task over from another team', () => {
    const foreign = objectOf('Task', { team: 'other' });
    expect(authorise(lead, { ...where, verb, object: foreign, changed: stored }).allowed).toBe(false);
  });

  it('is refused to other agents', () => {
    expect(authorise(coder, { ...where, verb, object: stored, changed: stored }).allowed).toBe(false);
  });
});
