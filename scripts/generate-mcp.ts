/** The page docs/mcp.md, made from the tools, resources and prompts themselves, so that it cannot say anything else than a client is told. */
import { CONFIG_CLIENTS, configFor } from '../src/cli/mcp/config-snippet.ts';
import { allPrompts } from '../src/mcp/all-prompts.ts';
import { allResources } from '../src/mcp/all-resources.ts';
import { allTools } from '../src/mcp/all-tools.ts';
import { withHint } from '../src/mcp/hints.ts';
import type { Prompt } from '../src/mcp/prompt.ts';
import type { Tool } from '../src/mcp/tool.ts';
import { agentTools } from '../src/protocol/agent-tools.ts';
import { type ToolSurface, toListed } from '../src/protocol/tool-surface.ts';
import { USUAL_RATES } from '../src/relay/rates.ts';
import { AGENT_EXAMPLE, ERROR_EXAMPLE, type ExampleStep, OPERATOR_EXAMPLE } from './mcp-examples.ts';
import * as words from './mcp-page-words.ts';
import { type SchemaRow, schemaRows } from './mcp-schema-table.ts';

export const OPERATOR_HEADING = "An operator's example";
export const AGENT_HEADING = "An agent's example";

/** Some tools of an agent are called as tools of an orchestrator are. */
const AGENT = ' (agent)';

const NAMES: Readonly<Record<string, string>> = {
  claude: 'Claude Code (`.mcp.json` in the project)',
  codex: 'Codex (`~/.codex/config.toml`)',
  cursor: 'Cursor (`.cursor/mcp.json`)',
  gemini: 'Gemini CLI (`.gemini/settings.json`)',
  vscode: 'VS Code (`.vscode/mcp.json`)',
};

export function mcpPage(): string {
  return [
    words.START,
    ...clientSections(),
    words.HTTP,
    words.TOOLS,
    toolTable(allTools, ''),
    ...allTools.map((tool) => toolSection(tool, '')),
    words.AGENT_TOOLS,
    toolTable(agentTools, AGENT),
    ...agentTools.map((tool) => toolSection(tool, AGENT)),
    words.RESOURCES,
    table(
      ['Address', 'Type', 'What it is'],
      allResources.map(({ uriTemplate, mimeType, description }) => [code(uriTemplate), mimeType, description]),
    ),
    words.PROMPTS,
    ...allPrompts.map(promptSection),
    words.ERRORS,
    fence('json', JSON.stringify(ERROR_EXAMPLE.request)),
    'it is',
    fence('json', JSON.stringify(ERROR_EXAMPLE.answer)),
    words.ERROR_FIELDS,
    table(
      ['Code', 'Meaning', 'What to do, unless the refusal says better'],
      Object.entries(words.MEANINGS).map(([errorCode, meaning]) => [code(errorCode), meaning, hintFor(errorCode)]),
    ),
    words.LIMITS,
    table(
      ['Category', 'At once', 'Per minute'],
      Object.entries(USUAL_RATES).map(([category, { burst, perMinute }]) => [category, String(burst), String(perMinute)]),
    ),
    words.MORE_LIMITS,
    `## ${OPERATOR_HEADING}`,
    'What a client sends after `initialize`, and of each answer what matters here (`structuredContent` of tools).',
    ...OPERATOR_EXAMPLE.flatMap(exampleStep),
    `## ${AGENT_HEADING}`,
    'The same from inside the workspace of the agent `worker` of that team, over `team mcp`.',
    ...AGENT_EXAMPLE.flatMap(exampleStep),
  ]
    .join('\n\n')
    .concat('\n');
}

/** Many of them take the same. */
function clientSections(): readonly string[] {
  const textOf = (client: string) => configFor(client, '/', '/home/ada/shop/.agentiso');
  return [...new Set(CONFIG_CLIENTS.map(textOf))].map((text) => {
    const names = CONFIG_CLIENTS.filter((client) => textOf(client) === text).map(nameOf);
    return `${names.join(', ')}:\n\n${fence(text.startsWith('{') ? 'json' : 'toml', text)}`;
  });
}

function nameOf(client: string): string {
  const name = NAMES[client];
  if (name === undefined) throw new Error(`scripts/generate-mcp.ts does not say what ${client} is`);
  return name;
}

function toolTable(tools: readonly ToolSurface[], suffix: string): string {
  const anchor = suffix.replace(/[()]/g, '').replaceAll(' ', '-');
  return table(
    ['Tool', 'What for', 'Category', 'Kind'],
    tools.map((tool) => [`[${tool.name}](#${tool.name}${anchor})`, tool.title, tool.category, flagsOf(tool).join(', ')]),
  );
}

function flagsOf({ isReadOnly, isDestructive, isIdempotent, needsAdmin }: Pick<Tool, keyof ToolSurface | 'needsAdmin'>): readonly string[] {
  return [
    ...(isReadOnly ? ['reads'] : []),
    ...(isReadOnly && needsAdmin === true ? ['for admins'] : []),
    ...(isDestructive === true ? ['destroys'] : []),
    ...(!isReadOnly && isIdempotent === true ? ['again'] : []),
  ];
}

function toolSection(tool: ToolSurface, suffix: string): string {
  const { inputSchema, outputSchema } = toListed(tool);
  const [input, output] = [schemaRows(inputSchema), schemaRows(outputSchema)];
  return [
    `### ${tool.name}${suffix}`,
    plain(tool.description),
    input.length === 0 ? 'It takes nothing.' : fieldTable('Field', input, 'required'),
    output.length === 0 ? 'The answer has no fields of its own.' : fieldTable('Answer', output, 'always'),
  ].join('\n\n');
}

function fieldTable(title: string, rows: readonly SchemaRow[], required: string): string {
  const cells = rows.map(({ field, type, isRequired, description }) => [code(field), type, isRequired ? required : '', description]);
  return table([title, 'Type', '', 'Meaning'], cells);
}

function promptSection({ name, title, description, arguments: args }: Prompt): string {
  const rows = args.map((each) => [code(each.name), each.required ? 'required' : '', each.description]);
  return [`### ${name}`, `${title}. ${plain(description)}`, table(['Argument', '', 'Meaning'], rows)].join('\n\n');
}

function hintFor(errorCode: string): string {
  return withHint({ code: errorCode, message: '' }, 'the tool').hint ?? '';
}

function exampleStep({ says, method, params, answer }: ExampleStep, index: number): readonly string[] {
  const request = { jsonrpc: '2.0', id: index + 1, method, params };
  return [says, fence('json', JSON.stringify(request, undefined, 2)), fence('json', JSON.stringify(answer, undefined, 2))];
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(headers), `|${headers.map(() => '---|').join('')}`, ...rows.map((row) => line(row.map(plain)))].join('\n');
}

/** Angle brackets outside of code would be taken for HTML. */
function plain(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('');
}
