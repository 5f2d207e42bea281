/** `agentiso backends`: which coding agents are installed, and `backends install`, which installs them once for all agents of this machine. */
import { messageOf } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { type BackendHere, type BackendsHere, type Command, type CommandContext, EXIT } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { UsageError } from '../usage-error.ts';

export const backendsCommand: Command = {
  name: 'backends',
  args: '[action] [names...]',
  summary: 'list the coding agents that are installed, or install NAME…',
  description:
    'A backend is what does the work of an agent: shell runs commands, the others are coding agents. They are installed once, by npm and in exact versions, into a directory that all workspaces see and none can write to: $AGENTISO_TOOLS, or agentiso/tools among your caches. backends install --all installs every one.',
  options: [
    { flags: '--all', description: 'install: every backend that can be installed' },
    { flags: '-o, --output <format>', description: 'json: one document for programs', choices: ['json'] },
  ],
  async run([action, ...names], options, context) {
    const here = await context.openBackends?.();
    if (here === undefined) throw new Error('no backends here');
    if (action === 'install') return install(namesToInstall(names, await here.list(), options['all'] === true), here, context);
    if (action !== undefined) throw new UsageError(`unknown action "${action}"; agentiso backends install NAME…, or none to list them`);
    const backends = await here.list();
    context.out(options['output'] === 'json' ? `${JSON.stringify({ tools: here.tools, backends }, undefined, 2)}\n` : listing(backends));
    return EXIT.ok;
  },
};

export function listing(backends: readonly BackendHere[]): string {
  const rows = backends.map((backend) => [backend.name, backend.title, backend.release || '-', stateOf(backend), placeOf(backend)]);
  return alignLines([['NAME', 'AGENT', 'RELEASE', 'INSTALLED', 'WHERE, OR WHAT HELPS'], ...rows], TABLE_STYLE);
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
