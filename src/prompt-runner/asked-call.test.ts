import { expect, it } from 'vitest';
import { toAskedCall } from './asked-call.ts';
import { judge } from './permission.ts';

const rules = [{ action: 'deny', command: '*forbidden*' }, { action: 'allow' }] as const;
const verdictOn = (toolCall: object) => judge(toAskedCall(toolCall, {}, ['/workspace']), rules).action;

it.each([
  ['in its input', { kind: 'execute', title: 'Run', rawInput: { command: 'touch forbidden' } }, 'deny'],
  ['in its input, as a list', { kind: 'execute', rawInput: { cmd: ['touch', 'forbidden'] } }, 'deny'],
  ['in its title alone', { kind: 'execute', title: 'touch forbidden' }, 'deny'],
  ['nowhere', { kind: 'execute' }, 'deny'],
  ['that is another', { kind: 'execute', title: 'touch fine' }, 'allow'],
  ['beside another', { kind: 'execute', rawInput: { command: 'touch fine', script: 'touch forbidden' } }, 'deny'],
])('judges a call that has its command %s', (_, toolCall, action) => {
  expect(verdictOn(toolCall)).toBe(action);
});

it('takes the title of a tool that runs nothing for no command', () => {
  expect(verdictOn({ kind: 'read', title: 'Read forbidden.txt' })).toBe('allow');
});
