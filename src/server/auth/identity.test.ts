import { expect, it } from 'vitest';
import { agentIdentity } from './identity.ts';

it('an agent is called by namespace, team and short name', () => {
  expect(agentIdentity({ namespace: 'default', team: 'sprint', name: 'coder' }).user).toBe('agent:default/sprint/coder');
});

it.each([
  { namespace: 'default', team: 'a/b', name: 'c' },
  { namespace: '', team: 'a', name: 'c' },
  { namespace: 'default', team: 'a', name: 'b/c' },
])('no part can be mistaken for two: %j', (parts) => {
  expect(() => agentIdentity(parts)).toThrow('is no name');
});
