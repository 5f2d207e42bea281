/**
 * Small numbers for teams and agents, by uid: addresses, user ids and marks follow from them. Lowest free first, kept in one
 * file, on disk before anybody learns of a new one: a number that was used is never given away by a crash.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AgentisoError, messageOf, StalledError } from './errors.ts';
import { isObject } from './json.ts';
import { syncPath } from './sync-path.ts';

export type NumberKind = 'teams' | 'agents';

interface Range {
  readonly first: number;
  readonly last: number;
}

/** Agents: 10.99.0.2 to 10.99.255.254. Teams: host user ids 70001 to 135535. */
const RANGES: Readonly<Record<NumberKind, Range>> = { teams: { first: 1, last: 65_535 }, agents: { first: 2, last: 65_534 } };

type Table = Readonly<Record<NumberKind, ReadonlyMap<string, number>>>;

const KINDS: readonly NumberKind[] = ['teams', 'agents'];

export class Numbers {
  readonly #file: string;
  /** On disk, but for what was released since. */
  #table: Table;
  /** Chosen, and not yet on disk: nobody else gets them, and nobody has learned of them. */
  readonly #chosen: Record<NumberKind, Map<string, number>> = { teams: new Map(), agents: new Map() };
  /** Of what is to be written; a write that finds another one afterwards is out of date. */
  #wanted = 0;
  #written = 0;
  #writing: Promise<void> | undefined;

  /** Reads the file; a missing one means that no number was given out yet. */
  constructor(file: string) {
    this.#file = file;
    this.#table = readTable(file);
  }

  /** The number of a uid, a new one if it has none. Waits in place for the disk: `ensure` does not. */
  numberOf(kind: NumberKind, uid: string): number {
    const known = this.find(kind, uid);
    if (known !== undefined) return known;
    const number = this.#choose(kind, uid);
    try {
      const table = this.#wished();
      writeTable(this.#file, table);
      this.#adopt(table);
    } catch (error) {
      this.#chosen[kind].delete(uid);
      throw error;
    }
    return number;
  }

  /** As `numberOf`; those that are asked for while the disk is busy share one write. */
  async ensure(kind: NumberKind, uid: string): Promise<number> {
    const known = this.find(kind, uid);
    if (known !== undefined) return known;
    this.#choose(kind, uid);
    await this.#write();
    return this.find(kind, uid) ?? this.ensure(kind, uid);
  }

  find(kind: NumberKind, uid: string): number | undefined {
    return this.#table[kind].get(uid);
  }

  /** Free at once, also for others; on disk when it resolves. A crash before keeps it with a uid that is gone, which hurts nobody. */
  async release(kind: NumberKind, uid: string): Promise<void> {
    if (this.find(kind, uid) === undefined) return;
    this.#table = { ...this.#table, [kind]: new Map([...this.#table[kind]].filter(([known]) => known !== uid)) };
    this.#wanted += 1;
    await this.#write();
  }

  /** As of now, by uid. */
  entries(kind: NumberKind): ReadonlyMap<string, number> {
    return this.#table[kind];
  }

  #choose(kind: NumberKind, uid: string): number {
    const before = this.#chosen[kind].get(uid);
    if (before !== undefined) return before;
    const number = lowestFree(new Set([...this.#table[kind].values(), ...this.#chosen[kind].values()]), RANGES[kind]);
    if (number === undefined) {
      const reason = kind === 'agents' ? 'AddressesExhausted' : 'NumbersExhausted';
      throw new StalledError(reason, `all ${RANGES[kind].last - RANGES[kind].first + 1} numbers of ${kind} are taken; delete some of them`);
    }
    this.#chosen[kind].set(uid, number);
    this.#wanted += 1;
    return number;
  }

  #wished(): Table {
    const of = (kind: NumberKind) => new Map([...this.#table[kind], ...this.#chosen[kind]]);
    return { teams: of('teams'), agents: of('agents') };
  }

  /** What is on disk may be learned from here on. */
  #adopt(table: Table): void {
    this.#table = table;
    for (const kind of KINDS) this.#chosen[kind].clear();
    this.#written = this.#wanted;
  }

  /** Resolves when everything that was wanted at the call is on disk. */
  async #write(): Promise<void> {
    for (const wanted = this.#wanted; this.#written < wanted; ) {
      this.#writing ??= this.#writeOnce().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  async #writeOnce(): Promise<void> {
    const wanted = this.#wanted;
    const written = this.#written;
    const fresh = `${this.#file}.next`;
    const table = this.#wished();
    try {
      await writeAside(fresh, textOf(table));
    } catch (error) {
      // Nobody was told of them; whoever asks again chooses again.
      for (const kind of KINDS) this.#chosen[kind].clear();
      throw error;
    }
    // Somebody who could not wait has written meanwhile: what is here may be older.
    if (this.#written !== written) return rmSync(fresh, { force: true });
    renameSync(fresh, this.#file);
    await syncPath(dirname(this.#file));
    this.#settle(table, wanted);
  }

  /** What was chosen or released during the write is of the next one. */
  #settle(table: Table, wanted: number): void {
    const tables = { ...this.#table };
    for (const kind of KINDS) {
      const arrived = [...this.#chosen[kind]].filter(([uid]) => table[kind].has(uid));
      for (const [uid] of arrived) this.#chosen[kind].delete(uid);
      if (arrived.length > 0) tables[kind] = new Map([...this.#table[kind], ...arrived]);
    }
    this.#table = tables;
    this.#written = Math.max(this.#written, wanted);
  }
}

function lowestFree(taken: ReadonlySet<number>, { first, last }: Range): number | undefined {
  for (let number = first; number <= last; number++) if (!taken.has(number)) return number;
  return undefined;
}

function textOf({ teams, agents }: Table): string {
  return `${JSON.stringify({ version: 1, teams: Object.fromEntries(teams), agents: Object.fromEntries(agents) })}\n`;
}

/** As everything else in the home: nobody's but the daemon's. */
const FILE_MODE = 0o600;

async function writeAside(fresh: string, text: string): Promise<void> {
  await mkdir(dirname(fresh), { recursive: true });
  const handle = await open(fresh, 'w', FILE_MODE);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function writeTable(file: string, table: Table): void {
  const text = textOf(table);
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.new`;
  withFile(fresh, 'w', (fd) => {
    writeSync(fd, text);
    fsyncSync(fd);
  });
  renameSync(fresh, file);
  withFile(dirname(file), 'r', fsyncSync);
}

function withFile(path: string, flags: string, work: (fd: number) => void): void {
  const fd = openSync(path, flags, FILE_MODE);
  try {
    work(fd);
  } finally {
    closeSync(fd);
  }
}

function readTable(file: string): Table {
  try {
    return parseTable(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { teams: new Map(), agents: new Map() };
    throw new AgentisoError('IoError', `${file} is damaged: ${messageOf(error)}`, {
      reason: 'NumbersDamaged',
      hint: 'restore it from a backup; or stop every agent of this home, delete the file, and start again: agents then get new addresses and teams new user ids',
      cause: error,
    });
  }
}

function parseTable(value: unknown): Table {
  if (!isObject(value) || value['version'] !== 1) throw new Error('expected {"version":1,…}');
  return { teams: parseNumbers('teams', value['teams']), agents: parseNumbers('agents', value['agents']) };
}

/** The same number twice would give two agents one address. */
function parseNumbers(kind: NumberKind, value: unknown): ReadonlyMap<string, number> {
  if (!isObject(value)) throw new Error(`${kind} is no object of numbers by uid`);
  const { first, last } = RANGES[kind];
  const numbers = new Map<string, number>();
  const seen = new Set<number>();
  for (const [uid, number] of Object.entries(value)) {
    if (!Number.isInteger(number) || Number(number) < first || Number(number) > last || seen.has(Number(number))) {
      throw new Error(`${kind}.${uid} is ${JSON.stringify(number)}; expected a number from ${first} to ${last} that nobody else has`);
    }
    seen.add(Number(number));
    numbers.set(uid, Number(number));
  }
  return numbers;
}
