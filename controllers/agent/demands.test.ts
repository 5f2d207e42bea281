import { expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { admission } from '../../src/api/kinds.ts';
import { newAgent } from '../../test/support/controllers.ts';
import { unmetDemand } from './demands.ts';

it.each([
  { name: 'nothing special', spec: {}, want: undefined },
  { name: 'another backend', spec: { backend: 'claude-code' }, want: undefined },
  { name: 'a secret', spec: { envFrom: [{ hostEnv: 'KEY' }] }, want: undefined },
  { name: 'a port', spec: { portForwards: [{ guestPort: 3000 }] }, want: undefined },
  { name: 'to sleep', spec: { desiredState: 'Suspended' }, want: 'NotSupportedYet' },
])('answers an agent that asks for $name with $want', ({ spec, want }) => {
  const agent = admission.admit(newAgent('one', spec) as Agent, undefined) as Agent;
  expect(unmetDemand(agent)?.reason).toBe(want);
});
