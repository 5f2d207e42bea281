/** Several figures of one experiment, each a contestant: whichever comes first in a round makes the experiment, the others read it. */
import { BenchError, type Contestant } from '../harness/operation.ts';

export function figuresOf(names: readonly string[], experiment: () => Promise<Readonly<Record<string, number>>>): Contestant[] {
  let unread = new Map<string, number>();
  return names.map((name) => ({
    name,
    async run() {
      if (!unread.has(name)) unread = new Map(Object.entries(await experiment()));
      const figure = unread.get(name);
      if (figure === undefined) throw new BenchError(`the experiment says nothing about ${name}`);
      unread.delete(name);
      return figure;
    },
  }));
}

/** For `reference` of an operation whose contestants share an experiment: none of them alone says how disturbed a round was. */
export const WHOLE_ROUND = 'the whole round';
