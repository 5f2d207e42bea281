/** `agentiso serve`: the daemon in the foreground, until Ctrl-C. */
import { join } from 'node:path';
import { type Command, EXIT, type StartOptions } from '../command.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run the daemon on a directory',
  description: 'Watches HOME/resources, brings teams and agents to life, and stops them again on Ctrl-C or SIGTERM.',
  options: [
    { flags: '--home <dir>', description: 'where resources and state live (default: $AGENTISO_HOME or .agentiso)' },
    {
      flags: '--log-level <level>',
      description: 'how much to tell on standard error',
      choices: ['error', 'warn', 'info', 'debug'],
      default: 'warn',
    },
  ],
  async run(_args, options, { out, signal, startDaemon, home: configured }) {
    const home = (options['home'] as string | undefined) ?? configured ?? '.agentiso';
    const daemon = await startDaemon({ home, logLevel: options['logLevel'] as StartOptions['logLevel'] });
    out(`agentiso ready: watching ${join(home, 'resources')}\n`);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
      // The signal handlers alone do not keep the process alive when nothing runs.
      const hold = setInterval(() => {}, 2 ** 30);
      signal.addEventListener('abort', () => clearInterval(hold), { once: true });
    });
    await daemon.stop();
    return EXIT.ok;
  },
};
