import { describe, expect, it } from 'vitest';
import { agentTools } from '#protocol/agent-tools.ts';
import { toListed } from '#protocol/tool-surface.ts';
import { allTools } from './all-tools.ts';
import { workTools } from './work-tools.ts';

/** One tool may speak of a field of the next. */
const SCHEMAS = JSON.stringify(allTools.map((tool) => [tool.input.schema(), tool.output.schema()]));
const NAMES = new Set([...allTools.map(({ name }) => name), ...Object.values(agentTools).map(({ name }) => name)]);

describe.each(workTools.map((tool) => ({ name: tool.name, tool, listed: toListed(tool) })))('$name', ({ tool, listed }) => {
  it('names only tools, fields and words that there are', () => {
    const words = `${listed.description} ${JSON.stringify(listed.inputSchema)}`.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
    expect(words.filter((word) => !NAMES.has(word) && !SCHEMAS.includes(`"${word}"`) && !MESSAGE_TYPES.includes(word))).toEqual([]);
  });

  it('describes every field, and takes no others', () => {
    const fields = Object.entries(listed.inputSchema['properties'] as Record<string, { description?: string }>);
    expect(fields.filter(([, { description = '' }]) => description.length < 5)).toEqual([]);
    expect(listed.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(listed.outputSchema).toMatchObject({ type: 'object' });
  });

  it('never says that it only reads when it ends something', () => {
    expect(tool.isReadOnly && tool.isDestructive).not.toBe(true);
  });
});

const MESSAGE_TYPES = ['plan_submission'];
