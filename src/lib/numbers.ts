/**
 * Small numbers for teams and agents, by uid: addresses, user ids and marks follow from them. Lowest free first, kept in one
 * file, on disk before anybody learns of a new one: a number that was used is never given away by a crash.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgentisoError, messageOf, StalledError } from './errors.ts';
import { isObject } from './json.ts';

export type NumberKind = 'teams' | 'agents';

interface Range {
  readonly first: number;
  readonly last: number;
}

/** Agents: 10.99.0.2 to 10.99.255.254. Teams: host user ids 70001 to 135535. */
const RANGES: Readonly<Record<NumberKind, Range>> = { teams: { first: 1, last: 65_535 }, agents: { first: 2, last: 65_534 } };

type Table = Readonly<Record<NumberKind, ReadonlyMap<string, number>>>;

export class Numbers {
  readonly #file: string;
  #table: Table;

  /** Reads the file; a missing one means that no number was given out yet. */
  constructor(file: string) {
    this.#file = file;
    this.#table = readTable(file);
  }

  /** The number of a uid, a new one if it has none. */
  numberOf(kind: NumberKind, uid: string): number {
    return this.find(kind, uid) ?? this.#allocate(kind, uid);
  }

  find(kind: NumberKind, uid: string): number | undefined {
    return this.#table[kind].get(uid);
  }

  release(kind: NumberKind, uid: string): void {
    if (this.find(kind, uid) === undefined) return;
    this.#store(kind, new Map([...this.#table[kind]].filter(([known]) => known !== uid)));
  }

  /** As of now, by uid. */
  entries(kind: NumberKind): ReadonlyMap<string, number> {
    return this.#table[kind];
  }

  #allocate(kind: NumberKind, uid: string): number {
    const number = lowestFree(new Set(this.#table[kind].values()), RANGES[kind]);
    if (number === undefined) {
      const reason = kind === 'agents' ? 'AddressesExhausted' : 'NumbersExhausted';
      throw new StalledError(reason, `all ${RANGES[kind].last - RANGES[kind].first + 1} numbers of ${kind} are taken; delete some of them`);
    }
    this.#store(kind, new Map([...this.#table[kind], [uid, number]]));
    return number;
  }

  #store(kind: NumberKind, numbers: ReadonlyMap<string, number>): void {
    const table = { ...this.#table, [kind]: numbers };
    writeTable(this.#file, table);
    this.#table = table;
  }
}

function lowestFree(taken: ReadonlySet<number>, { first, last }: Range): number | undefined {
  for (let number = first; number <= last; number++) if (!taken.has(number)) return number;
  return undefined;
}

function writeTable(file: string, { teams, agents }: Table): void {
  const text = `${JSON.stringify({ version: 1, teams: Object.fromEntries(teams), agents: Object.fromEntries(agents) })}\n`;
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
  const fd = openSync(path, flags);
  try {
    work(fd);
  } finally {
    closeSync(fd);
  }
}

function readTable(file: string): Table {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { teams: new Map(), agents: new Map() };
    throw error;
  }
  try {
    return parseTable(JSON.parse(text));
  } catch (error) {
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
