import { expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { bench, newAgent, newTask } from '../../../test/support/controllers.ts';
import { toPromptJob } from './prompt-job.ts';

async function world(agentSpec: Parameters<typeof newAgent>[1] = {}) {
  const { client } = bench();
  const agent = await client.create<Agent>(newAgent('a-ann', { backend: 'codex', ...agentSpec }));
  const one = await client.create<Task>(newTask('a-one'));
  await client.updateStatus<Task>({ ...one, status: { phase: 'Succeeded', result: { stdout: 'first words' } } });
  const other = await client.create<Task>(newTask('two', { team: 'b' }));
  await client.updateStatus<Task>({ ...other, status: { phase: 'Succeeded', result: { stdout: 'secret' } } });
  const task = await client.create<Task>(newTask('a-next', { dependsOn: ['one', 'two'], prompt: 'x' }));
  return { client, agent, task };
}

it('carries the words of the team, what came before in it, and the notes that everybody goes by', async () => {
  const { client, agent, task } = await world();
  const asked: unknown[] = [];
  const hit = (path: string, line: number) => ({ path, line, text: '', context: [] });
  const vault = {
    search: async (...args: unknown[]) => {
      asked.push(args.slice(0, 2));
      return { hits: [hit('b.md', 1), hit('a.md', 1), hit('a.md', 2)], isCut: false };
    },
    read: async (_scope: unknown, path: string) => ({
      path,
      content: `---\ntags: [conventions]\n---\nrule of ${path}\n`,
      version: '1',
      frontmatter: {},
    }),
  };
  const { text, ...job } = await toPromptJob(task, agent, 'go', { client, vault });
  expect(job).toEqual({ backend: 'codex', mode: 'acp', rules: [{ action: 'allow' }] });
  expect(text).toBe(
    [
      '--- Output from "one" ---\nfirst words\n--- End ---',
      'Task next',
      'go',
      '--- Conventions (a.md) ---\nrule of a.md\n--- End ---',
      '--- Conventions (b.md) ---\nrule of b.md\n--- End ---',
    ].join('\n\n'),
  );
  expect(asked).toEqual([
    [
      { namespace: 'default', team: 'a' },
      { pattern: '', tag: 'conventions', limit: 100 },
    ],
  ]);
});

it('goes by the rules, the model, the provider and the backend of the agent as it runs', async () => {
  const rules = [{ action: 'ask' as const, kind: 'execute' as const }];
  const { client, agent, task } = await world({ model: 'm', provider: 'mine', permissions: { rules, askSeconds: 7 } });
  const fallen = { ...agent, status: { backend: 'qwen' } } as Agent;
  const oneShot = { ...task, spec: { ...task.spec, promptMode: 'OneShot' } } as Task;
  expect(await toPromptJob(oneShot, fallen, 'go', { client })).toMatchObject({
    ...{ backend: 'qwen', mode: 'oneShot', model: 'm', provider: 'mine', rules, askMs: 7_000 },
  });
});
