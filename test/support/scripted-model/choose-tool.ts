/** From what a step wants to the tool that the agent offers for it, under its name and with its arguments. Pure. */
import type { Conversation, OfferedTool, ToolCall } from './conversation.ts';
import type { McpStep, ShellStep, Step, WriteStep } from './script.ts';

type Tools = Conversation['tools'];
export type Chosen = Omit<ToolCall, 'id'>;

const SHELLS = ['exec_command', 'shell_command', 'shell', 'run_shell_command', 'Bash', 'bash', 'Execute'];
const WRITERS = ['write_file', 'Write', 'write', 'Create', 'create_file'];
const COMMAND_NAMES = ['cmd', 'command'];
const PATH_NAMES = ['file_path', 'filePath', 'path', 'absolute_path'];
const CONTENT_NAMES = ['content', 'contents', 'file_text', 'text'];

/** undefined: the agent offers nothing that could do it. */
export function chooseTool(step: Step, tools: Tools): Chosen | undefined {
  switch (step.op) {
    case 'call':
      return calling(tools.find(({ name }) => name === step.name) ?? { name: step.name }, step.args ?? {});
    case 'mcp':
      return forMcp(step, tools);
    case 'shell':
      return forShell(step, tools);
    case 'write':
      return forWrite(step, tools);
    case 'text':
      return undefined;
  }
}

/**
 * mcp__team__send_message, mcp_team_send_message, team_send_message and team___send_message are all one tool; SendMessage and a bare
 * send_message may be the agent's own.
 */
function forMcp({ tool, args = {} }: McpStep, tools: Tools): Chosen | undefined {
  const isOfServer = ({ name, namespace }: OfferedTool) =>
    plain(name).endsWith(`_${plain(tool)}`) || (name === tool && namespace !== undefined);
  const offered = tools.find(isOfServer) ?? tools.find(({ name }) => name === tool);
  return offered && calling(offered, args);
}

function forShell({ command }: ShellStep, tools: Tools): Chosen | undefined {
  const shell = firstOf(SHELLS, tools);
  if (shell === undefined) return undefined;
  const name = argumentName(shell, COMMAND_NAMES, 'command');
  const isList = shell.schema?.properties?.[name]?.type === 'array';
  return calling(shell, withRequired(shell, { [name]: isList ? ['bash', '-c', command] : command }));
}

/** An agent without a tool for files writes them by its shell. */
function forWrite({ path, content }: WriteStep, tools: Tools): Chosen | undefined {
  const writer = firstOf(WRITERS, tools);
  if (writer === undefined) return forShell({ op: 'shell', command: `printf %s ${quoted(content)} > ${quoted(path)}` }, tools);
  const place = argumentName(writer, PATH_NAMES, 'file_path');
  return calling(writer, withRequired(writer, { [place]: path, [argumentName(writer, CONTENT_NAMES, 'content')]: content }));
}

function calling({ name, namespace, isFreeForm }: OfferedTool, args: Chosen['args']): Chosen {
  return { name, args, ...(namespace !== undefined && { namespace }), ...(isFreeForm && { isFreeForm }) };
}

function firstOf(names: readonly string[], tools: Tools): OfferedTool | undefined {
  return names.map((wanted) => tools.find(({ name }) => name === wanted)).find((tool) => tool !== undefined);
}

function argumentName({ schema }: OfferedTool, names: readonly string[], otherwise: string): string {
  return names.find((name) => schema?.properties?.[name] !== undefined) ?? otherwise;
}

/** Agents refuse a call that lacks anything they demand, a description for instance. */
function withRequired({ schema }: OfferedTool, given: Record<string, unknown>): Record<string, unknown> {
  const lacking = (schema?.required ?? []).filter((name) => !(name in given));
  return { ...given, ...Object.fromEntries(lacking.map((name) => [name, anyValueOf(schema?.properties?.[name])])) };
}

function anyValueOf(property: { readonly type?: string | readonly string[]; readonly enum?: readonly unknown[] } = {}): unknown {
  if (property.enum !== undefined) return property.enum[0];
  const type = typeof property.type === 'object' ? property.type[0] : property.type;
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 30;
  return type === 'array' ? [] : 'scripted';
}

function plain(name: string): string {
  return name.replace(/[^a-z0-9]+/gi, '_');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
