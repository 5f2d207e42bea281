/** What a machine is to become when its guest answers, kept in its folder: the daemon that started it may not be the one that sees it answer. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineLink } from '../driver.ts';
import type { Acceleration, Board } from './args.ts';
import type { TemplateKind } from './templates.ts';

export interface MachineFile {
  readonly id: string;
  readonly incarnation: string;
  readonly hostname: string;
  readonly link?: MachineLink;
  /** Path of the network namespace that its device is in, where it was not made for it alone. */
  readonly network?: string;
  /** Whether its programs reach the egress proxy. */
  readonly egress?: boolean;
  /** Whether it has a disk with tools. */
  readonly hasTools?: boolean;
  readonly board: Board;
  readonly accel: Acceleration;
  /** Where the state of the template is whose copy it begins as. Absent: it boots. */
  readonly state?: string;
  /** What it was started as, so that it can be started as the same again. Absent: by a daemon that knew of no such thing. */
  readonly started?: StartedAs;
  /** Its guest has said that it can be reached by vsock. */
  readonly hasCalled?: boolean;
  /** It waited in the pool, and is still to be put on its agent's network. */
  readonly isWaiting?: boolean;
  /** It goes on from what was saved of it, and is to be told what time it is. */
  readonly isResumed?: boolean;
}

export interface StartedAs {
  readonly kind: TemplateKind;
  readonly team: number;
  /** Path of the disk with its tools. */
  readonly tools?: string;
}

const NAME = 'machine.json';

/** Before the start; what an earlier incarnation had there is of no use. Whole or not at all. */
export async function writeMachineFile(directory: string, machine: MachineFile): Promise<void> {
  const unfinished = join(directory, `${NAME}.new`);
  await writeFile(unfinished, `${JSON.stringify(machine)}\n`, { mode: 0o600 });
  await rename(unfinished, join(directory, NAME));
}

/** undefined: the folder is gone. */
export async function readMachineFile(directory: string): Promise<MachineFile | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, NAME), 'utf8')) as MachineFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
