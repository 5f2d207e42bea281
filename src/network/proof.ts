/**
 * Whether a transaction is proven without reading all rules back. The kernel numbers its transactions without gaps and tells what
 * each of them changed: rules that were verified, plus one transaction that changed exactly what it should, are verified. Pure.
 */
import { changeText } from './diff.ts';
import { TABLE } from './ruleset.ts';

/** One transaction, in the kernel's words as `nft monitor` prints them. */
export interface Announcement {
  readonly generation: number;
  readonly pid: number;
  /** Of elements in our table as `changeText` has them; every other line as it is. */
  readonly changes: readonly string[];
}

/** What an announcement must be to prove a transaction. */
export interface Expectation {
  /** The generation whose rules are known. */
  readonly verified: number;
  readonly changes: readonly string[];
}

export function isProof({ verified, changes }: Expectation, { generation, changes: made }: Announcement): boolean {
  return generation === verified + 1 && made.length === changes.length && isSameList([...made].sort(), [...changes].sort());
}

const GENERATION = /^# new generation (\d+) by process (\d+)/;
const ELEMENTS = new RegExp(`^(add|delete) element ${TABLE} (\\w+) \\{ ([^{}]*) \\}$`);

/** The last line of an announcement. */
export function readGeneration(line: string): Pick<Announcement, 'generation' | 'pid'> | undefined {
  const found = GENERATION.exec(line);
  return found ? { generation: Number(found[1]), pid: Number(found[2]) } : undefined;
}

/** A line before the last. Marks are printed as numbers to the base of 16. */
export function readChanges(line: string): string[] {
  const [, verb, name, elements] = ELEMENTS.exec(line) ?? [];
  if ((verb !== 'add' && verb !== 'delete') || name === undefined || elements === undefined) return [line];
  const plain = elements.replace(/\b0x[0-9a-f]{8}\b/g, (mark) => String(Number(mark)));
  return plain.split(', ').map((element) => changeText(verb, name, element));
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.every((each, index) => each === b[index]);
}
