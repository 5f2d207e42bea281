/** `agentiso mcp`: MCP over standard input and output, for clients that start their servers as programs. */
import { findHome, noDaemon } from '#client/target.ts';
import { environmentOf, text } from '../api-command.ts';
import { type Command, EXIT } from '../command.ts';
import { CONFIG_CLIENTS, configFor } from '../mcp/config-snippet.ts';
import { runPipe } from '../mcp/pipe.ts';
import { openStandardInput } from '../mcp/standard-input.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'serve MCP on standard input and output, for AI clients',
  description:
    'Connects an MCP client to the daemon of a directory: the client starts this program and speaks with it over standard input and output. A restart of the daemon does not end the session. --print-config shows what to put into the settings of a client.',
  options: [
    { flags: '--home <dir>', description: 'talk to the daemon of this directory (default: $AGENTISO_HOME or the nearest .agentiso)' },
    { flags: '--print-config <client>', description: 'print the entry for the settings of this client instead', choices: CONFIG_CLIENTS },
  ],
  async run(_args, options, context) {
    const environment = environmentOf(context);
    const home = findHome({ home: text(options['home']), environment });
    const client = text(options['printConfig']);
    if (client !== undefined) {
      context.out(configFor(client, environment.cwd, home));
      return EXIT.ok;
    }
    const { wasServed } = await runPipe({
      home,
      openInput: openStandardInput,
      output: (lines) => context.outBytes?.(lines),
      log: (line) => context.err(`agentiso: ${line}\n`),
      whenAbsent: (cause) => noDaemon(home, cause),
      signal: context.signal,
    });
    return wasServed || context.signal.aborted ? EXIT.ok : EXIT.failure;
  },
};
