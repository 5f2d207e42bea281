import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { agentIdentity, personIdentity } from './identity.ts';
import { eventAbout, objectOf } from './objects.fixture.ts';
import { canSee, type Lookup } from './visibility.ts';

const coder = agentIdentity({ namespace: 'default', team: 'sprint', name: 'coder' });
const KINDS = ['Team', 'Agent', 'Task', 'Merge'];
const PLACES = [
  ['its own team', { team: 'sprint' }, true],
  ['another team', { team: 'other' }, false],
  ['a team whose name goes on where its own ends', { team: 'sprint-two' }, false],
  ['the team of the same name in another namespace', { team: 'sprint', namespace: 'elsewhere' }, false],
] as const;

const among =
  (...objects: KindObject[]): Lookup =>
  ({ kind, namespace, name }) =>
    objects.find((object) => object.kind === kind && object.metadata.namespace === namespace && object.metadata.name === name);

describe.each(PLACES)('of %s', (_, place, isVisible) => {
  it.each(KINDS)('an agent sees a %s accordingly', (kind) => {
    expect(canSee(coder, objectOf(kind, place))).toBe(isVisible);
  });

  it.each(KINDS)('an agent sees an Event about a %s accordingly', (kind) => {
    const subject = objectOf(kind, place);
    for (const field of ['involvedObject', 'regarding'] as const)
      expect(canSee(coder, eventAbout(subject, field), among(subject))).toBe(isVisible);
  });

  it.each(['admin', 'viewer'] as const)('%s sees everything', (role) => {
    for (const kind of KINDS) expect(canSee(personIdentity(role, 'x'), objectOf(kind, place))).toBe(true);
    expect(canSee(personIdentity(role, 'x'), eventAbout(objectOf('Task', place)))).toBe(true);
  });
});

describe('an agent', () => {
  it('goes by what an object says, not by its name', () => {
    expect(canSee(coder, objectOf('Task', { team: 'other', name: 'sprint-task' }))).toBe(false);
    expect(canSee(coder, objectOf('Task', { team: 'sprint', name: 'other-task' }))).toBe(true);
  });

  it('sees the Pods of its team, by the label that the server gives them', () => {
    expect(canSee(coder, objectOf('Pod'))).toBe(true);
    expect(canSee(coder, objectOf('Pod', { team: 'other' }))).toBe(false);
    expect(canSee(coder, objectOf('Pod', { namespace: 'elsewhere' }))).toBe(false);
  });

  it.each(['ConfigMap', 'Lease', 'Namespace'])('sees no %s, even one that claims to be of its team', (kind) => {
    expect(canSee(coder, objectOf(kind))).toBe(false);
    expect(canSee(coder, { ...objectOf(kind), apiVersion: 'v1' })).toBe(false);
  });

  it('is not fooled by a kind of another group', () => {
    expect(canSee(coder, { ...objectOf('Team'), apiVersion: 'example.com/v1' })).toBe(false);
    expect(canSee(coder, eventAbout({ ...objectOf('Team'), apiVersion: 'example.com/v1' }))).toBe(false);
  });

  it('sees no Event about an object that is gone, or that another has replaced', () => {
    const task = objectOf('Task');
    const another = { ...task, metadata: { ...task.metadata, uid: 'new' } };
    expect(canSee(coder, eventAbout(task))).toBe(false);
    expect(canSee(coder, eventAbout(task), among())).toBe(false);
    expect(canSee(coder, eventAbout(task), among(another))).toBe(false);
  });

  it('sees no Event that says nothing about its subject, or names one in another namespace', () => {
    const event: KindObject & { involvedObject?: unknown } = eventAbout(objectOf('Team'));
    expect(canSee(coder, event)).toBe(true);
    expect(canSee(coder, { ...event, involvedObject: undefined } as KindObject)).toBe(false);
    expect(canSee(coder, { ...event, involvedObject: { kind: 'Team' } } as KindObject)).toBe(false);
    const elsewhere = eventAbout(objectOf('Team', { namespace: 'elsewhere' }));
    expect(canSee(coder, { ...elsewhere, metadata: event.metadata })).toBe(false);
  });

  it('without a team of its own sees nothing', () => {
    expect(canSee({ user: 'x', groups: [], role: 'agent' }, objectOf('Team'))).toBe(false);
  });
});
