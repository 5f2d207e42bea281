/** Process groups that a command has made beside its own, as it tells on a pipe: `+ID` and `-ID`, line by line. None outlives it. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type Family, type ProcessGroups, signalGroup } from '../process-group.ts';

/** For what was told before the end and is not read yet. */
const READ_MS = 1_000;
const LINE = /^([+-])([1-9]\d{0,9})$/;

export class ToldGroups {
  readonly #groups: ProcessGroups;
  readonly #alive = new Set<number>();
  readonly #ended: Promise<unknown>;
  #rest = '';

  constructor(groups: ProcessGroups, told: Readable | undefined) {
    this.#groups = groups;
    told?.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
    told?.on('error', () => {});
    this.#ended = told === undefined ? Promise.resolve() : once(told, 'close').catch(() => {});
  }

  get families(): readonly Family[] {
    return [...this.#alive].map((id) => ({ kind: 'group', id }));
  }

  /** The command has ended: what it did not end itself is killed. */
  async end(): Promise<void> {
    await Promise.race([this.#ended, delay(READ_MS, undefined, { ref: false })]);
    for (const id of this.#alive) {
      signalGroup(id, 'SIGKILL');
      this.#groups.delete(id);
    }
    this.#alive.clear();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, what, id] = LINE.exec(line) ?? [];
      if (id !== undefined) this.#note(what === '+', Number(id));
    }
  }

  /** With those of the guest: when it ends, they do. */
  #note(isAlive: boolean, id: number): void {
    if (isAlive) {
      this.#alive.add(id);
      this.#groups.add(id);
    } else if (this.#alive.delete(id)) this.#groups.delete(id);
  }
}
