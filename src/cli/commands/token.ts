/** `agentiso token`: lets others in, shows who is, and shuts them out again. */
import { requestJson } from '#client/resource-api.ts';
import { nearest } from '#lib/suggest.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { UsageError } from '../usage-error.ts';

const SUBCOMMANDS = ['create', 'list', 'revoke'];

export const tokenCommand = apiCommand({
  name: 'token',
  args: '<action> [name]',
  summary: 'let others in: create NAME, list, revoke NAME',
  description:
    'A token stands for a person or program and a role: a viewer sees everything and changes nothing, an admin may do everything. With --role agent:TEAM/AGENT it is the agent itself, which needs no NAME: it sees its own team and takes part in it, over MCP too. It is shown once; -o kubeconfig prints a file that kubectl takes.',
  options: [
    { flags: '--role <role>', description: 'create: what the token may do: viewer, admin or agent:TEAM/AGENT', default: 'viewer' },
    {
      flags: '-o, --output <format>',
      description: 'create: the token, or a kubeconfig with it',
      choices: ['token', 'kubeconfig'],
      default: 'token',
    },
  ],
  async run([action = '', name], options, session) {
    if (action === 'list') return list(session);
    if (action !== 'create' && action !== 'revoke') throw unknownAction(action);
    const role = text(options['role']) ?? '';
    if (action === 'create') return create(subjectOf(role, name, session.namespace), options, session);
    if (name === undefined) throw new UsageError('whose token? agentiso token revoke NAME');
    return revoke(name, session);
  },
});

interface Made {
  readonly token: string;
  readonly kubeconfig: string;
}

interface Subject {
  readonly user?: string;
  readonly role: string;
}

function subjectOf(role: string, name: string | undefined, namespace: string): Subject {
  const [, agent] = /^agent:([^/]+\/[^/]+)$/.exec(role) ?? [];
  if (agent !== undefined) {
    if (name !== undefined) throw new UsageError(`the token of an agent is its own: agentiso token create --role ${role}`);
    return { role: `agent:${namespace}/${agent}` };
  }
  if (role !== 'viewer' && role !== 'admin') throw new UsageError(`unknown role "${role}"; expected viewer, admin or agent:TEAM/AGENT`);
  if (name === undefined) throw new UsageError('whose token? agentiso token create NAME');
  return { user: name, role };
}

async function create(subject: Subject, options: OptionValues, { connection, signal, out }: Session): Promise<number> {
  const body = JSON.stringify(subject);
  const made = await requestJson<Made>(connection, { method: 'POST', path: '/tokens', body, signal });
  out(options['output'] === 'kubeconfig' ? made.kubeconfig : `${made.token}\n`);
  return EXIT.ok;
}

async function revoke(user: string, { connection, signal, out }: Session): Promise<number> {
  await requestJson(connection, { method: 'DELETE', path: `/tokens?user=${encodeURIComponent(user)}`, signal });
  out(`${user} has no token any more\n`);
  return EXIT.ok;
}

async function list({ connection, signal, out }: Session): Promise<number> {
  const { items } = await requestJson<{ items: readonly Record<string, string>[] }>(connection, { method: 'GET', path: '/tokens', signal });
  const rows = items.map(({ user = '', role = '', createdAt = '' }) => [user, role, createdAt]);
  out(alignLines([['NAME', 'ROLE', 'CREATED'], ...rows], TABLE_STYLE));
  return EXIT.ok;
}

function unknownAction(action: string): UsageError {
  const meant = ['delete', 'remove', 'rm'].includes(action) ? 'revoke' : nearest(action, SUBCOMMANDS);
  return new UsageError(`unknown action "${action}"; ${meant ? `did you mean ${meant}?` : `expected ${SUBCOMMANDS.join(', ')}`}`);
}
