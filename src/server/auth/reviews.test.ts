import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '#lib/json.ts';
import { authorise, matchesResource } from './authorise.ts';
import { agentIdentity, personIdentity } from './identity.ts';
import { selfSubjectAccessReview, selfSubjectReview, selfSubjectRulesReview } from './reviews.ts';
import type { ResourceRule } from './rules.ts';

const admin = personIdentity('admin', 'admin');
const viewer = personIdentity('viewer', 'eve');
const coder = agentIdentity({ namespace: 'default', team: 'sprint', name: 'coder' });

describe('SelfSubjectReview', () => {
  it.each([
    [admin, 'admin', ['system:masters', 'system:authenticated']],
    [viewer, 'eve', ['agentiso:viewers', 'system:authenticated']],
    [coder, 'agent:default/sprint/coder', ['agentiso:agents', 'agentiso:team:default/sprint', 'system:authenticated']],
  ])('says who asks', (identity, username, groups) => {
    expect(selfSubjectReview(identity, { metadata: { creationTimestamp: null } })).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: { creationTimestamp: null },
      status: { userInfo: { username, groups } },
    });
  });

  it('believes nothing that the body says', () => {
    expect(selfSubjectReview(coder, { status: { userInfo: { username: 'admin' } } }).status).toMatchObject({
      userInfo: { username: coder.user },
    });
  });
});

describe('SelfSubjectAccessReview', () => {
  const ask = (identity: typeof admin, spec: JsonObject) => selfSubjectAccessReview(identity, { spec });
  const task = { verb: 'create', group: 'agentiso.dev', resource: 'tasks', namespace: 'default' };

  it('echoes the question and answers it', () => {
    const spec = { resourceAttributes: task };
    expect(ask(coder, spec)).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec,
      status: { allowed: true, reason: 'allowed for the role agent' },
    });
  });

  it.each([
    [viewer, { resourceAttributes: task }, false],
    [viewer, { resourceAttributes: { ...task, verb: 'list', namespace: '' } }, true],
    [viewer, { resourceAttributes: { verb: 'get', resource: 'pods', subresource: 'exec' } }, false],
    [admin, { resourceAttributes: { verb: '*', group: '*', resource: '*' } }, true],
    [viewer, { resourceAttributes: { verb: '*', group: '*', resource: '*' } }, false],
    [coder, { resourceAttributes: { ...task, verb: 'delete' } }, false],
    [coder, { resourceAttributes: { ...task, verb: 'get', resource: 'teams', name: 'sprint' } }, true],
    [coder, { resourceAttributes: { ...task, verb: 'get', resource: 'teams', name: 'other' } }, false],
    [coder, { resourceAttributes: { ...task, namespace: 'elsewhere' } }, false],
    [coder, { nonResourceAttributes: { verb: 'get', path: '/version' } }, true],
    [coder, { nonResourceAttributes: { verb: 'get', path: '/mcp' } }, false],
    [coder, { resourceAttributes: {} }, false],
    [coder, { resourceAttributes: { ...task, verb: 7 } }, false],
  ])('%#: decides as a request would be decided', (identity, spec, allowed) => {
    expect(ask(identity, spec).status['allowed']).toBe(allowed);
  });

  it.each([{}, { resourceAttributes: {}, nonResourceAttributes: {} }, { resourceAttributes: 'x' }])(
    'refuses %j, which asks nothing or two things',
    (spec) => {
      expect(() => ask(admin, spec)).toThrow('exactly one of nonResourceAttributes or resourceAttributes must be specified');
    },
  );
});

describe('SelfSubjectRulesReview', () => {
  const rules = (identity: typeof admin, namespace: string) => selfSubjectRulesReview(identity, { spec: { namespace } });

  it('lists the rights of an agent in its namespace', () => {
    expect(rules(coder, 'default')).toMatchObject({
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: 'default' },
      status: { incomplete: false },
    });
    expect(rules(coder, 'default').status['resourceRules']).toContainEqual({
      verbs: ['create'],
      apiGroups: ['agentiso.dev'],
      resources: ['tasks'],
    });
  });

  it('lists nothing but reviews for an agent in another namespace', () => {
    expect(JSON.stringify(rules(coder, 'elsewhere').status['resourceRules'])).not.toContain('agentiso.dev');
  });

  it('needs a namespace', () => {
    expect(() => selfSubjectRulesReview(admin, {})).toThrow('no namespace on request');
  });

  it('agrees with every decision', () => {
    const attributes = fc.record({
      verb: fc.constantFrom('get', 'list', 'watch', 'create', 'update', 'patch', 'delete', '*'),
      group: fc.constantFrom('', 'agentiso.dev', 'authorization.k8s.io', 'authentication.k8s.io', 'events.k8s.io'),
      version: fc.constant('v1'),
      resource: fc.constantFrom('teams', 'agents', 'tasks', 'merges', 'events', 'pods', 'selfsubjectreviews', 'selfsubjectaccessreviews'),
      subresource: fc.constantFrom('', 'status', 'scale', 'exec', 'log'),
      namespace: fc.constantFrom('default', 'elsewhere'),
      name: fc.constantFrom('', 'sprint', 'other'),
    });
    fc.assert(
      fc.property(fc.constantFrom(admin, viewer, coder), attributes, (identity, asked) => {
        const listed = rules(identity, asked.namespace).status['resourceRules'] as ResourceRule[];
        expect(listed.every((rule) => isObject(rule))).toBe(true);
        expect(listed.some((rule) => matchesResource(rule, asked))).toBe(authorise(identity, asked).allowed);
      }),
      { numRuns: 500 },
    );
  });
});
