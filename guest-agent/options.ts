/** The command line of the guest agent. */
import { parseArgs } from 'node:util';

export interface GuestOptions {
  readonly socketPath: string;
  readonly id: string;
  readonly incarnation: string;
  /** The workspace root as it really lies in the file system. */
  readonly workspace: string;
}

export function parseOptions(argv: readonly string[]): GuestOptions {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args: [...argv], options: { socket: text, id: text, incarnation: text, workspace: text } });
  return {
    socketPath: required(values.socket, 'socket'),
    id: required(values.id, 'id'),
    incarnation: required(values.incarnation, 'incarnation'),
    workspace: values.workspace ?? '/workspace',
  };
}

function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new Error(`--${name} is required`);
  return value;
}
