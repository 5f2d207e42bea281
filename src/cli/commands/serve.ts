/** `agentiso serve`: the daemon in the foreground, until Ctrl-C. */
import { type Command, EXIT, type StartOptions } from '../command.ts';
import { isLoopback, parseListenAddress } from '../listen-address.ts';
import { onHome } from '../unusable-home.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run the daemon on a directory',
  description:
    'Watches HOME/resources, brings teams and agents to life, answers kubectl and agentiso commands, and stops on Ctrl-C or SIGTERM. HOME/kubeconfig leads kubectl to it. HOME/config.yaml sets limits and rates; SIGHUP reads it again.',
  options: [
    { flags: '--home <dir>', description: 'where resources and state live (default: $AGENTISO_HOME or .agentiso)' },
    { flags: '--listen <address>', description: 'host, port or both for HTTPS (default: 127.0.0.1 and a free port that is remembered)' },
    {
      flags: '--watch <dir>',
      description: 'follow the manifests in this directory: apply what they declare, delete what they stop declaring; repeatable',
      isRepeatable: true,
    },
    { flags: '--keep-workspaces', description: 'leave agents running at the end; the next daemon goes on with them' },
    {
      flags: '--uplink',
      description: 'let packets of agents leave the machine where their team allows it; forwarding them on the host is yours to set up',
    },
    {
      flags: '--log-level <level>',
      description: 'how much to tell on standard error',
      choices: ['error', 'warn', 'info', 'debug'],
      default: 'warn',
    },
    { flags: '--log-format <format>', description: 'for programs or for people', choices: ['json', 'text'], default: 'json' },
  ],
  async run(_args, options, { out, err, signal, onReload, startDaemon, home: configured }) {
    const home = (options['home'] as string | undefined) || configured || '.agentiso';
    const given = options['listen'] as string | undefined;
    const listen = given === undefined ? undefined : parseListenAddress(given);
    if (listen && !isLoopback(listen.host)) err(openWarning(listen.host));
    const start = {
      home,
      logLevel: options['logLevel'] as StartOptions['logLevel'],
      logFormat: options['logFormat'] as NonNullable<StartOptions['logFormat']>,
      manifestDirectories: (options['watch'] as readonly string[] | undefined) ?? [],
      keepWorkspaces: options['keepWorkspaces'] === true,
      uplink: options['uplink'] === true,
      ...(listen ? { listen } : {}),
    };
    const daemon = await onHome(home, () => startDaemon(start));
    onReload?.(() => daemon.reload?.());
    out(`agentiso ready: ${daemon.url} (KUBECONFIG=${daemon.kubeconfig})\n`);
    const lost = await Promise.race([aborted(signal), daemon.lost]);
    if (lost !== undefined) err(`agentiso: ${lost}; stopping\n`);
    await daemon.stop();
    return lost === undefined ? EXIT.ok : EXIT.failure;
  },
};

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function openWarning(host: string): string {
  return `Warning: --listen ${host} lets other machines reach this daemon; whoever has a token of HOME/kubeconfig can run commands here\n`;
}
