/**
 * Merges into one branch that are verified together. Each is merged onto the commit of the one before it, so the chain is seen in their
 * statuses: `targetBefore` of one is `candidate` of the one before. What passes at one commit has passed for all up to it. Pure.
 */
import type { Merge } from '#api/types.ts';
import { lineBefore, targetOf } from './queue.ts';

/** More at once make a failure harder to find than waiting costs. */
const MAX_TOGETHER = 8;

/** From the one that stands on the target itself to the last. */
export function chainOn(target: string | undefined, merges: readonly Merge[], inOrder: (a: Merge, b: Merge) => number): Merge[] {
  const rest = new Set([...merges].filter(hasCandidate).sort(inOrder));
  const chain: Merge[] = [];
  for (let tip = target; tip !== undefined; ) {
    const next: Merge | undefined = [...rest].find(({ status }) => status?.targetBefore === tip);
    if (!next) break;
    rest.delete(next);
    chain.push(next);
    tip = next.status?.candidate;
  }
  return chain;
}

function hasCandidate({ metadata, status }: Merge): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Merging' && status.candidate !== undefined;
}

export type Step =
  /** The target may move to the commit of this one, and with it of all before it. */
  | { readonly is: 'land'; readonly upTo: number }
  | { readonly is: 'fail'; readonly index: number }
  | { readonly is: 'verify'; readonly index: number };

/** All at once; if that fails the first half, and so on, until the one that fails alone. */
export function nextStep(chain: readonly Merge[], isRunning: (merge: Merge) => boolean): Step {
  const results = chain.map(resultOf);
  const good = results.lastIndexOf(true);
  if (good >= 0) return { is: 'land', upTo: good };
  const bad = results.indexOf(false);
  if (bad === 0) return { is: 'fail', index: 0 };
  const running = chain.findIndex(isRunning);
  if (running >= 0) return { is: 'verify', index: running };
  return { is: 'verify', index: bad < 0 ? chain.length - 1 : Math.floor((bad - 1) / 2) };
}

/** Undefined: not known yet. */
function resultOf({ spec, status }: Merge): boolean | undefined {
  if ((spec.verify ?? []).length === 0) return true;
  const { verification, candidate } = status ?? {};
  return verification?.commit === candidate ? verification?.passed : undefined;
}

/** Of all up to this one, each command once. */
export function commandsUpTo(chain: readonly Merge[], index: number): string[] {
  return [...new Set(chain.slice(0, index + 1).flatMap(({ spec }) => spec.verify ?? []))];
}

/** Who waits for people, or lands in an agent's repository, goes alone; without verify there is nothing to share. */
function isShareable({ spec: { verify = [], approval, target } }: Merge): boolean {
  return verify.length > 0 && approval !== 'Required' && target.agent === undefined;
}

interface Open {
  readonly isRunning: (merge: Merge) => boolean;
}

/** The commit that a merge may be put on though others go before it; undefined when it has to wait. */
export function joins(merge: Merge, all: readonly Merge[], { isRunning }: Open): string | undefined {
  const before = lineBefore(merge, all);
  const last = before.at(-1);
  if (!last?.status?.candidate || !isShareable(merge) || before.length >= MAX_TOGETHER) return undefined;
  const isOpen = before.every(
    (other, index) =>
      targetOf(other) === targetOf(merge) &&
      isShareable(other) &&
      hasCandidate(other) &&
      !isRunning(other) &&
      resultOf(other) === undefined &&
      (index === 0 || other.status?.targetBefore === before[index - 1]?.status?.candidate),
  );
  return isOpen ? last.status.candidate : undefined;
}
