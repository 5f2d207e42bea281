/** Who is there, more of them, and the notes they share. */
import type { Arguments, OptionKinds } from './arguments.ts';
import { type Command, type Context, OK, show, textFrom } from './command.ts';
import { line, table } from './print.ts';

type Row = Readonly<Record<string, string | number | readonly string[] | undefined>>;

const who: Command = {
  usage: '',
  run: async (args, context) => {
    args.only(0);
    const result = await context.ask('listAgents');
    const rows = (result.agents as Row[]).map(({ name, role, status, current_task = '-', skills }) =>
      [name, role, status, current_task, (skills as readonly string[]).join(',') || '-'].map(String),
    );
    show(args, context, result, () => table(['NAME', 'ROLE', 'STATUS', 'TASK', 'SKILLS'], rows));
    return OK;
  },
};

const budget: Command = {
  usage: '',
  run: async (args, context) => {
    args.only(0);
    const result = await context.ask('getBudget');
    const { used, reserved, max_agents, remaining, depth, max_depth } = result;
    const agents = `agents: ${used} of ${max_agents}, ${reserved} reserved, ${remaining} left`;
    show(args, context, result, () => `${agents}\ndepth: ${depth} of ${max_depth}\n`);
    return OK;
  },
};

const spawn: Command = {
  usage: 'NAME --role NAME[:COUNT]... [--max-agents N]',
  options: { role: 'list', 'max-agents': 'number' },
  run: async (args, context) => {
    const name = args.only(1).word(0, 'NAME');
    const roles = args.list('role').map((text) => toRole(args, text));
    if (roles.length === 0) args.misused('at least one --role is needed');
    const result = await context.ask('createSubTeam', { name, roles, max_agents: args.number('max-agents') });
    show(args, context, result, () => `${line(`${result.team_name}: ${result.message}`)}\n`);
    return OK;
  },
};

function toRole(args: Arguments, text: string): { readonly name: string; readonly count?: number } {
  const [, name, count] = /^([^:]+)(?::(\d{1,4}))?$/.exec(text) ?? [];
  if (name === undefined) return args.misused(`--role must be NAME or NAME:COUNT, not ${JSON.stringify(text)}`);
  return count === undefined ? { name } : { name, count: Number(count) };
}

const VAULT_OPTIONS: OptionKinds = {
  recursive: 'flag',
  append: 'flag',
  prepend: 'flag',
  'if-version': 'text',
  path: 'text',
  tag: 'text',
  limit: 'number',
  regex: 'flag',
};

const VAULT: Readonly<Record<string, (args: Arguments, context: Context) => Promise<void>>> = {
  ls: async (args, context) => {
    const path = args.only(2).words[1];
    const result = await context.ask('vaultList', { path, ...(args.flag('recursive') && { recursive: true }) });
    const rows = (result.entries as Row[]).map(({ path: at, size, modified }) => [at, size, modified].map(String));
    show(args, context, result, () => table(['PATH', 'SIZE', 'MODIFIED'], rows));
    reportCut(context, result);
  },
  cat: async (args, context) => {
    const result = await context.ask('vaultRead', { path: args.only(2).word(1, 'PATH') });
    show(args, context, result, () => result.content);
  },
  write: async (args, context) => {
    const path = args.word(1, 'PATH');
    const mode = args.flag('append') ? 'append' : args.flag('prepend') ? 'prepend' : 'overwrite';
    // A note ends with a line's end, as an editor would leave it.
    const content = `${await textFrom(args, context, 2)}\n`;
    const result = await context.ask('vaultWrite', { path, content, mode, if_version: args.text('if-version') });
    show(args, context, result, () => `${line(result.path)} ${line(result.version)}\n`);
  },
  search: async (args, context) => {
    const pattern = args.only(2).word(1, 'PATTERN');
    const where = { path: args.text('path'), tag: args.text('tag'), limit: args.number('limit') };
    const result = await context.ask('vaultSearch', { pattern, ...where, ...(args.flag('regex') && { is_regex: true }) });
    show(args, context, result, () =>
      (result.hits as Row[]).map((hit) => `${line(`${hit['path']}:${hit['line']}: ${hit['text']}`)}\n`).join(''),
    );
    reportCut(context, result);
  },
};

function reportCut(context: Context, { is_cut }: { readonly is_cut: boolean }): void {
  if (is_cut) context.complain('there is more: ask for less of it');
}

const vault: Command = {
  usage:
    'ls [PATH] [--recursive] | cat PATH | write PATH [TEXT...|-] [--append|--prepend] [--if-version V] | search PATTERN [--path P] [--tag T] [--limit N] [--regex]',
  options: VAULT_OPTIONS,
  run: async (args, context) => {
    const word = args.word(0, 'ls, cat, write or search');
    const run = Object.hasOwn(VAULT, word) ? VAULT[word] : undefined;
    if (run === undefined) return args.misused(`there is no vault ${JSON.stringify(word)}`);
    await run(args, context);
    return OK;
  },
};

export const teamCommands: Readonly<Record<string, Command>> = { who, budget, spawn, vault };
