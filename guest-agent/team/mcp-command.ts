/** `team mcp`: what an MCP client starts, and the settings by which it knows that. */
import { existsSync, realpathSync } from 'node:fs';
import { clientConfigs } from '../mcp/client-configs.ts';
import { writeConfigs } from '../mcp/write-configs.ts';
import { Refusal } from './client.ts';
import { type Command, type Context, OK } from './command.ts';
import { pipeMcp } from './mcp-pipe.ts';

/** Where a sandbox has it: some clients start servers without the environment. */
const SANDBOX_SOCKET = '/run/agentiso/agent.sock';

export interface McpPlace {
  /** As the environment names it. */
  readonly socket: string | undefined;
  readonly node: string | undefined;
  /** This program. */
  readonly program: string;
  readonly input: () => AsyncIterable<Buffer>;
  /** Nobody reads what it has to say. */
  readonly leave: () => void;
}

export function mcpCommand(place: McpPlace): Command {
  return {
    usage: '[--write-configs DIRECTORY]',
    options: { 'write-configs': 'text' },
    run: async (args, context) => {
      args.only(0);
      const socketPath = findSocket(place.socket);
      const directory = args.text('write-configs');
      if (directory === undefined) {
        await pipeMcp({ socketPath, input: place.input(), print: (line) => printOrLeave(`${line}\n`, context, place) });
        return OK;
      }
      const server = { command: realpathSync(place.program), socket: socketPath, node: place.node ?? process.execPath };
      for (const { client, path, isNew } of writeConfigs(directory, clientConfigs(server))) {
        context.print(`${client}: ${path}${isNew ? '' : ' is there already and stays as it is'}\n`);
      }
      return OK;
    },
  };
}

function printOrLeave(text: string, { print }: Context, { leave }: McpPlace): void {
  try {
    print(text);
  } catch {
    leave();
  }
}

function findSocket(named: string | undefined): string {
  if (named !== undefined && named !== '') return named;
  if (existsSync(SANDBOX_SOCKET)) return SANDBOX_SOCKET;
  throw new Refusal('AGENTISO_SOCKET is not set: this command works inside the workspace of an agent');
}
