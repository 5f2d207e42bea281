/** `agentiso backends`: which coding agents are installed, and `backends install`, which installs them once for all agents of this machine. */
import { messageOf } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { type BackendHere, type BackendsHere, type Command, type CommandContext, type CredentialsHere, EXIT } from '../command.ts';
import { credentialAdvice } from '../credential-advice.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { UsageError } from '../usage-error.ts';

export const backendsCommand: Command = {
  name: 'backends',
  args: '[action] [names...]',
  summary: 'list the coding agents that are installed, install NAME…, or prune old releases',
  description:
    'A backend is what does the work of an agent: shell runs commands, the others are coding agents. They are installed once, by npm and in exact versions, into a directory that all workspaces see and none can write to: $AGENTISO_TOOLS, or agentiso/tools among your caches. backends install --all installs every one. backends prune removes other releases than the present ones, those excepted that a process runs from; a daemon of another version may still want them.',
  options: [
    { flags: '--all', description: 'install: every backend that can be installed' },
    { flags: '--home <dir>', description: 'whose credentials to look at (default: $AGENTISO_HOME or .agentiso)' },
    { flags: '-o, --output <format>', description: 'json: one document for programs', choices: ['json'] },
  ],
  async run([action, ...names], options, context) {
    const here = await context.openBackends?.();
    if (here === undefined) throw new Error('no backends here');
    if (action === 'install') return install(namesToInstall(names, await here.list(), options['all'] === true), here, context);
    if (action === 'prune' && names.length === 0) return prune(here, context);
    if (action === 'prune') throw new UsageError('backends prune takes no names: it removes the releases that are not the present ones');
    if (action !== undefined)
      throw new UsageError(`unknown action "${action}"; agentiso backends install NAME…, prune, or none to list them`);
    const backends = await here.list();
    const credentials = await context.inspectCredentials?.(options['home'] as string | undefined);
    if (options['output'] === 'json') context.out(`${JSON.stringify({ tools: here.tools, backends, credentials }, undefined, 2)}\n`);
    else context.out([listing(backends, credentials), ...(credentials ? credentialAdvice(backends, credentials) : [])].join('\n'));
    return EXIT.ok;
  },
};

export function listing(backends: readonly BackendHere[], credentials?: CredentialsHere): string {
  const rows = backends.map((backend) => [
    ...[backend.name, backend.title, backend.release || '-', stateOf(backend)],
    ...[credentialOf(backend, credentials), placeOf(backend)],
  ]);
  return alignLines([['NAME', 'AGENT', 'RELEASE', 'INSTALLED', 'CREDENTIAL', 'WHERE, OR WHAT HELPS'], ...rows], TABLE_STYLE);
}

/** `anthropic`, `no openai`: whose key it needs, and whether there is one. */
function credentialOf({ provider }: BackendHere, credentials: CredentialsHere | undefined): string {
  if (provider === undefined || credentials === undefined) return '-';
  return credentials.providers.some(({ name, from }) => name === provider && from !== undefined) ? provider : `no ${provider}`;
}

function stateOf({ folder }: BackendHere): string {
  return folder === undefined ? 'no' : 'yes';
}

function placeOf({ name, folder, missing = '', isInstallable }: BackendHere): string {
  if (folder !== undefined) return folder || 'part of every workspace';
  return isInstallable ? `agentiso backends install ${name}` : missing;
}

function namesToInstall(names: readonly string[], backends: readonly BackendHere[], isAll: boolean): readonly string[] {
  const known = backends.filter(({ isInstallable }) => isInstallable).map(({ name }) => name);
  if (isAll) return known;
  if (names.length === 0) throw new UsageError(`which? agentiso backends install NAME…; there are ${known.join(', ')}`);
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new UsageError(`"${name}" cannot be installed; ${meant ? `did you mean ${meant}?` : `there are ${known.join(', ')}`}`);
  }
  return names;
}

async function prune(here: BackendsHere, { out, err, signal }: CommandContext): Promise<number> {
  const pruned = await here.prune({ signal, onWait: () => err('waiting for an installation …\n') });
  for (const { folder, usedBy } of pruned)
    out(usedBy === undefined ? `removed ${folder}\n` : `${folder} stays: process ${usedBy} uses it\n`);
  if (pruned.length === 0) out('there are no other releases than the present ones\n');
  return EXIT.ok;
}

/** One after the other: each is some hundred megabytes. */
async function install(names: readonly string[], here: BackendsHere, { out, err, signal }: CommandContext): Promise<number> {
  let failures = 0;
  for (const name of names) {
    try {
      err(`installing ${name} …\n`);
      const onWait = () => err(`waiting for another installation of ${name} …\n`);
      const { folder, isNew } = await here.install(name, { signal, onWait });
      out(`${name} ${isNew ? 'installed' : 'was installed already'}: ${folder}\n`);
    } catch (error) {
      if (signal.aborted) return EXIT.interrupted;
      failures++;
      err(`agentiso: ${messageOf(error)}\n`);
    }
  }
  return failures === 0 ? EXIT.ok : EXIT.failure;
}
