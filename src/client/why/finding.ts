/** What one look at one object tells. Looks are local: who asks further follows the leads. */
import type { KindObject } from '#api/meta.ts';
import type { View } from './view.ts';

/** fine: as it should be. waiting: time alone mends it. stuck: somebody has to do something. */
export type State = 'fine' | 'waiting' | 'stuck';

export interface Advice {
  readonly text: string;
  /** For a shell, as it stands. */
  readonly command?: string;
}

export interface Finding {
  readonly state: State;
  /** `is Blocked` */
  readonly says: string;
  readonly because?: string | undefined;
  readonly advice?: Advice | undefined;
  /** What to tell those that wait for it, when it needs nothing itself. */
  readonly patience?: string;
  /** Somebody wanted it so: a complaint only where others wait for it. */
  readonly isWished?: boolean;
  /** What it waits for, the most telling first. Whoever has none is the end of the chain. */
  readonly leads?: readonly KindObject[];
}

/** From where an object is looked at. */
export interface Sight {
  readonly view: View;
  readonly now: Date;
}

export function fine(says: string, because?: string): Finding {
  return { state: 'fine', says, because };
}

export function waiting(says: string, because: string | undefined, advice?: Advice): Finding {
  return { state: 'waiting', says, because, advice };
}

export function stuck(says: string, because: string | undefined, advice?: Advice): Finding {
  return { state: 'stuck', says, because, advice };
}

/** It is so because of these: their looks say more. */
export function leadingTo(leads: readonly KindObject[], says: string, because: string): Finding {
  return { state: 'waiting', says, because, leads };
}
