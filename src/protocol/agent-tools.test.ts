import { describe, expect, it } from 'vitest';
import { agentTools } from './agent-tools.ts';
import { agentVerbs } from './agent-verbs.ts';
import { mailVerbs } from './mail-verbs.ts';
import { toListed } from './tool-surface.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}

/** What agents may be asked for and is no tool: `check_messages` gives it. */
const NO_TOOL = ['openRequests'];

describe('the tools of agents', () => {
  it('are those that models are promised, in the order of a working day', () => {
    expect(agentTools.map(({ name }) => name)).toEqual([
      'check_messages',
      'wait_for_message',
      'send_message',
      'list_agents',
      'request_task',
      'claim_request',
      'release_task',
      'update_task',
      'complete_task',
      'submit_plan',
      'approve_plan',
      'vault_list',
      'vault_read',
      'vault_search',
      'vault_write',
      'create_sub_team',
      'get_budget',
    ]);
  });

  it('stand each for one verb, and every verb has one', () => {
    const verbs = [...Object.keys(mailVerbs), ...Object.keys(agentVerbs)].filter((verb) => !NO_TOOL.includes(verb));
    expect(agentTools.map(({ verb }) => verb).sort()).toEqual(verbs.sort());
  });

  it.each(agentTools.map((tool) => [tool.name, tool] as const))('%s says what it takes, and lets nobody say who asks', (_, tool) => {
    const { inputSchema, outputSchema, description } = toListed(tool);
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: 'object' });
    const { properties = {} } = inputSchema as Schema;
    for (const [name, { description: word }] of Object.entries(properties)) expect(word, name).toMatch(/^[^\n]{10,160}\.$/);
    expect(Object.keys(properties)).not.toEqual(expect.arrayContaining(['owner', 'agent']));
    if (tool.name === 'send_message') expect(properties).not.toHaveProperty('from');
    expect(description.length).toBeLessThan(600);
  });

  it('name no tool that does not exist', () => {
    const names = agentTools.map(({ name }) => name);
    const fields = agentTools.flatMap(({ input }) => Object.keys((input.schema() as Schema).properties ?? {}));
    const types = JSON.stringify(mailVerbs.sendMessage.params.schema());
    for (const { description } of agentTools) {
      for (const [word] of description.matchAll(/\b[a-z]+_[a-z_]+\b/g)) {
        const isKnown = names.includes(word) || fields.includes(word) || types.includes(`"${word}"`) || word === 'timed_out';
        expect(isKnown, word).toBe(true);
      }
    }
  });
});
