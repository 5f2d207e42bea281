/**
 * A descriptor as a stream, whatever it is of: net.Socket takes those of pipes, tcp and unix sockets only, and Node has no other public way to
 * wait for one. The handle that pipes have does it for all.
 */
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';

export interface PipeHandle {
  open(descriptor: number): number | undefined;
  /** Called by Node with what was read; with nothing when there is no more. */
  onread: (this: PipeHandle, bytes?: ArrayBuffer) => void;
  readStart(): number;
  /** Of the stream: whether it wants to be told of bytes. */
  reading?: boolean;
}

interface PipeBinding {
  readonly Pipe: new (type: number) => PipeHandle;
  readonly constants: { readonly SOCKET: number };
}

export interface HeldDescriptor {
  readonly socket: Socket;
  readonly handle: PipeHandle;
}

/** False: this Node lacks it. */
export function hasPipeHandles(): boolean {
  return findPipes() !== undefined;
}

/** Takes the descriptor over, also when it throws. `what`: of whom a message speaks. */
export function holdDescriptor(descriptor: number, what: string): HeldDescriptor {
  const pipes = findPipes();
  const handle = pipes && new pipes.Pipe(pipes.constants.SOCKET);
  const problem = handle?.open(descriptor);
  if (handle === undefined || (problem !== undefined && problem !== 0)) {
    closeSync(descriptor);
    throw new Error(`cannot wait for ${what}: ${handle === undefined ? 'this Node has no handles of pipes' : `error ${problem}`}`);
  }
  // Not in Node's types: what a socket is made of.
  const options: object = { handle };
  return { socket: new Socket(options), handle };
}

function findPipes(): PipeBinding | undefined {
  const { binding } = process as unknown as { readonly binding?: (name: string) => unknown };
  try {
    const found = binding?.('pipe_wrap') as Partial<PipeBinding> | undefined;
    return found?.Pipe === undefined || found.constants === undefined ? undefined : (found as PipeBinding);
  } catch {
    // No such binding in this version.
    return undefined;
  }
}
