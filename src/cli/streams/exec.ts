/** One command in one pod, from opening the connection to its exit code. */
import { openWebSocket } from '#client/websocket/open.ts';
import type { Session } from '../api-command.ts';
import { withMeantAgent } from '../named.ts';
import { CHANNEL_PROTOCOLS, type CommandEnds, type Ending, runCommand } from './command-channels.ts';
import { type PodPlace, podPath } from './pod.ts';

export interface ExecRequest {
  readonly pod: PodPlace;
  readonly container?: string | undefined;
  /** Absent: attach to what runs already. */
  readonly argv?: readonly string[];
  readonly isTerminal?: boolean;
  readonly ends: CommandEnds;
}

export async function execIn(session: Session, { pod, container, argv, isTerminal = false, ends }: ExecRequest): Promise<Ending> {
  const query = { container, stdin: ends.stdin !== undefined, stdout: true, stderr: !isTerminal, tty: isTerminal };
  const path = podPath(pod, argv ? 'exec' : 'attach', query, { command: argv ?? [] });
  const { connection, signal } = session;
  const socket = await openWebSocket(connection, { path, protocols: CHANNEL_PROTOCOLS, signal }).catch(async (error: unknown) => {
    throw await withMeantAgent(error, session, pod.name);
  });
  const leave = () => socket.close();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await runCommand(socket, ends);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
