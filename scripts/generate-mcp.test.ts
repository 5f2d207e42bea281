import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allPrompts } from '../src/mcp/all-prompts.ts';
import { allResources } from '../src/mcp/all-resources.ts';
import { allTools } from '../src/mcp/all-tools.ts';
import { agentTools } from '../src/protocol/agent-tools.ts';
import { list, map, nullable, object, oneOf, text } from '../src/protocol/shape.ts';
import { mcpPage } from './generate-mcp.ts';
import { schemaRows } from './mcp-schema-table.ts';

it('is what the page says', () => {
  expect(readFileSync(join(import.meta.dirname, '..', 'docs', 'mcp.md'), 'utf8')).toBe(mcpPage());
});

it('has every tool, resource and prompt', () => {
  const page = mcpPage();
  for (const { name } of [...allTools, ...allPrompts]) expect(page).toContain(`\n### ${name}\n`);
  for (const { name } of agentTools) expect(page).toContain(`\n### ${name} (agent)\n`);
  for (const { uriTemplate } of allResources) expect(page).toContain(`| \`${uriTemplate}\` |`);
});

it('shows nested fields by their path', () => {
  const schema = object(
    { roles: list(object({ name: text }, { size: oneOf('s', 'm') })) },
    { tags: map(list(text)), last: nullable(text) },
  );
  expect(schemaRows(schema.schema()).map(({ field, type, isRequired }) => `${field}: ${type}${isRequired ? ', required' : ''}`)).toEqual([
    'roles: list of object, required',
    'roles[].name: string, required',
    'roles[].size: `s`, `m`',
    'tags: map of list of string',
    'last: string or null',
  ]);
});
