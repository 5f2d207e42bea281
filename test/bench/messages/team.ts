/** The team whose agents write to each other: known to the host and to the guests alike. */
import { join } from 'node:path';
import { READERS } from './end.ts';

export const TEAM = 'bench';

export interface Member {
  readonly incarnation: string;
  readonly name: string;
}

export const SENDER: Member = member('sender');
export const MEMBERS: readonly Member[] = [SENDER, ...Array.from({ length: READERS }, (_, index) => member(readerName(index)))];

export function readerName(index: number): string {
  return `reader-${index}`;
}

export function socketOf(dir: string, { name }: Member, port: 'control' | 'relay'): string {
  return join(dir, `${name}.${port}`);
}

export function stateOf(dir: string, { name }: Member): string {
  return join(dir, `${name}.state`);
}

function member(name: string): Member {
  return { incarnation: `run-${name}`, name };
}
