/** `agentiso up`: a daemon, the manifests, and their tasks followed to the end, in one command that leaves nothing behind. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KindObject } from '#api/meta.ts';
import { applyObject } from '#client/apply.ts';
import { type Command, type CommandContext, EXIT, type OptionValues, type RunningDaemon, type StartOptions } from '../command.ts';
import { followTasks } from '../follow.ts';
import { readManifests } from '../manifests.ts';

export const upCommand: Command = {
  name: 'up',
  summary: 'run the teams of a manifest until their tasks are done',
  description:
    'Starts a daemon, applies the manifests, follows every task to its end and prints the results. Without --home everything lives in a temporary folder and is gone afterwards.',
  options: [
    {
      flags: '-f, --filename <file>',
      description: 'manifest file or folder; may be given several times',
      isRequired: true,
      isRepeatable: true,
    },
    { flags: '--home <dir>', description: 'keep resources and results in this directory' },
    {
      flags: '--log-level <level>',
      description: 'how much to tell on standard error',
      choices: ['silent', 'error', 'warn', 'info', 'debug'],
      default: 'error',
    },
  ],
  async run(_args, options, context) {
    const { objects, problems } = readManifests(options['filename'] as readonly string[]);
    for (const problem of problems) context.err(`${problem}\n`);
    if (problems.length > 0) return EXIT.failure;
    return withHome(options, (home) => runIn(home, objects, options, context));
  },
};

async function withHome(options: OptionValues, work: (home: string) => Promise<number>): Promise<number> {
  const given = options['home'] as string | undefined;
  if (given !== undefined) return work(given);
  const temporary = mkdtempSync(join(tmpdir(), 'agentiso-'));
  try {
    return await work(temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function runIn(home: string, objects: readonly KindObject[], options: OptionValues, context: CommandContext): Promise<number> {
  const daemon = await context.startDaemon({ home, logLevel: options['logLevel'] as StartOptions['logLevel'] });
  try {
    await applyAll(daemon, objects, context);
    const code = await followTasks(daemon.client, objects, context);
    return context.signal.aborted ? EXIT.interrupted : code;
  } finally {
    await daemon.stop();
  }
}

async function applyAll({ client }: RunningDaemon, objects: readonly KindObject[], { err }: CommandContext): Promise<void> {
  for (const object of objects) {
    const outcome = await applyObject(client, object);
    err(`${object.kind.toLowerCase()}/${object.metadata.name} ${outcome}\n`);
  }
}
