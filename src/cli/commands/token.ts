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
    'A token stands for a person or program and a role: a viewer sees everything and changes nothing, an admin may do everything. It is shown once; -o kubeconfig prints a file that kubectl takes.',
  options: [
    { flags: '--role <role>', description: 'create: what the token may do', choices: ['viewer', 'admin'], default: 'viewer' },
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
    if (name === undefined) throw new UsageError(`whose token? agentiso token ${action} NAME`);
    return action === 'create' ? create(name, options, session) : revoke(name, session);
  },
});

interface Made {
  readonly token: string;
  readonly kubeconfig: string;
}

async function create(user: string, options: OptionValues, { connection, signal, out }: Session): Promise<number> {
  const body = JSON.stringify({ user, role: text(options['role']) });
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
