/** `agentiso up`: a daemon, the manifests, and their tasks followed to the end, in one command. */
import { type Command, EXIT } from '../command.ts';
import { manifestsOf, RUN_OPTIONS, runManifests } from '../up/run.ts';

export const upCommand: Command = {
  name: 'up',
  summary: 'run the teams of a manifest until their tasks are done',
  description:
    'Starts a daemon (or uses the one that runs on the directory), applies the manifests, follows every task to its end and prints the results. Everything is kept in the directory. Tasks that have ended do not run again. It ends by itself when all tasks have ended, with the board and the result; --stay goes on serving. A team without tasks runs until Ctrl-C.',
  options: [...RUN_OPTIONS, { flags: '--stay', description: 'go on serving when all is done, until Ctrl-C' }],
  async run(_args, options, context) {
    const objects = await manifestsOf(options, context);
    return objects === undefined ? EXIT.failure : runManifests(objects, options, context);
  },
};
