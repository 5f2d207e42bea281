import { describe, expect, it } from 'vitest';
import { render } from '#api/task-template.ts';
import type { Task } from '#api/types.ts';
import { planWorkflow, type Step } from './workflow-plan.ts';

const plan = (steps: readonly Step[], name = 'flow') => planWorkflow({ namespace: 'default', team: 'a', name, steps });
const step = (name: string, more: Partial<Step> = {}): Step => ({ name, agent: 'coder', command: 'true', ...more });
const withoutCommand = (name: string, prompt: string, needs: readonly string[]): Step => ({
  name,
  agent: 'coder',
  prompt,
  depends_on: needs,
});
const finished = (name: string, stdout: string) => ({ metadata: { name }, status: { result: { stdout } } }) as unknown as Task;

describe('a workflow as tasks', () => {
  it('has one labelled task per step', () => {
    const [first, second] = plan([step('x'), step('y', { depends_on: ['x'], timeout_seconds: 9, max_attempts: 1 })]);
    expect(first?.draft).toMatchObject({
      kind: 'Task',
      metadata: { name: 'a-flow-x', namespace: 'default', labels: { 'agentiso.dev/workflow': 'a-flow', 'agentiso.dev/step': 'x' } },
      spec: { team: 'a', assignTo: 'coder', command: 'true' },
    });
    expect(first?.draft.spec).not.toHaveProperty('dependsOn');
    expect(second?.draft.spec).toMatchObject({ dependsOn: ['a-flow-x'], timeoutSeconds: 9, maxAttempts: 1 });
  });

  it('puts what came before into a prompt, to the letter', () => {
    const [, , last] = plan([step('x'), step('y'), withoutCommand('z', 'Sum up.', ['x', 'y'])]);
    const task = { spec: last?.draft.spec } as unknown as Task;
    const { prompt } = render(task, [finished('a-flow-x', 'one\n"$(two)"\n'), finished('a-flow-y', 'three')]);
    expect(prompt).toBe('--- Output from "x" ---\none\n"$(two)"\n\n--- End ---\n--- Output from "y" ---\nthree\n--- End ---\nSum up.');
  });

  it('gives a command what came before as a variable, and leaves its words alone', () => {
    const [, last] = plan([step('x'), step('y', { command: 'printf %s "$AGENTISO_INPUT"', depends_on: ['x'] })]);
    const task = { spec: last?.draft.spec } as unknown as Task;
    expect(render(task, [finished('a-flow-x', '$(rm -rf /)')])).toEqual({
      command: 'printf %s "$AGENTISO_INPUT"',
      env: { AGENTISO_INPUT: '--- Output from "x" ---\n$(rm -rf /)\n--- End ---\n' },
    });
  });

  it.each([
    { why: 'two steps of a name', steps: [step('x'), step('x')], field: 'steps[1].name', words: 'two steps x' },
    {
      why: 'a circle',
      steps: [step('x', { depends_on: ['y'] }), step('y', { depends_on: ['x'] })],
      field: 'steps',
      words: 'x -> y -> x',
    },
    { why: 'itself', steps: [step('x', { depends_on: ['x'] })], field: 'steps', words: 'x -> x' },
    { why: 'an unknown step', steps: [step('x', { depends_on: ['z'] })], field: 'steps[0].depends_on', words: 'no step z' },
    { why: 'command and prompt', steps: [step('x', { prompt: 'p' })], field: 'steps[0].command', words: 'either' },
    { why: 'a model', steps: [step('x', { model: 'm' })], field: 'steps[0].model', words: 'model of its agent' },
    { why: 'a long name', steps: [step('x'.repeat(60))], field: 'steps[0].name', words: 'at most 63' },
  ])('is refused for $why', ({ steps, field, words }) => {
    const refused = () => plan(steps);
    expect(refused).toThrow(words);
    expect(refused).toThrow(expect.objectContaining({ code: 'Invalid', fields: [expect.objectContaining({ path: field })] }));
  });
});
