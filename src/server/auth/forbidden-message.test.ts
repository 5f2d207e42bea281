import { expect, it } from 'vitest';
import type { Attributes } from './authorise.ts';
import { forbiddenMessage } from './forbidden-message.ts';
import { agentIdentity } from './identity.ts';

const coder = agentIdentity({ namespace: 'default', team: 'sprint', name: 'coder' });
const team = { verb: 'get', group: 'agentiso.dev', version: 'v1alpha1', resource: 'teams' };

it.each<[Attributes, string]>([
  [
    { ...team, namespace: 'default', name: 'x' },
    'teams.agentiso.dev "x" is forbidden: User "agent:default/sprint/coder" cannot get resource "teams" in API group "agentiso.dev" in the namespace "default"',
  ],
  [
    { ...team, verb: 'list' },
    'teams.agentiso.dev is forbidden: User "agent:default/sprint/coder" cannot list resource "teams" in API group "agentiso.dev" at the cluster scope',
  ],
  [
    { ...team, verb: 'patch', namespace: 'default', name: 'x', subresource: 'status' },
    'teams.agentiso.dev "x" is forbidden: User "agent:default/sprint/coder" cannot patch resource "teams/status" in API group "agentiso.dev" in the namespace "default"',
  ],
  [
    { verb: 'list', group: '', version: 'v1', resource: 'events', namespace: 'other' },
    'events is forbidden: User "agent:default/sprint/coder" cannot list resource "events" in API group "" in the namespace "other"',
  ],
  [{ verb: 'get', path: '/y' }, 'forbidden: User "agent:default/sprint/coder" cannot get path "/y"'],
])('%j', (attributes, message) => {
  expect(forbiddenMessage(coder, attributes)).toBe(message);
  expect(forbiddenMessage(coder, attributes, 'because')).toBe(`${message}: because`);
});
