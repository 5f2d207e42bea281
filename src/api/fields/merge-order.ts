/** The order of two merged lists: the right side's for its items, with the left side's others in between where they were. */

/** An item of the left side alone (with its index), or one of the right side, merged with the left's if there is one. */
export interface Step {
  readonly element: string;
  readonly leftIndex?: number;
}

/** `right` has no duplicates; `left` may. Follows upstream step by step, since clients see the order. */
export function mergeOrder(left: readonly string[], right: readonly string[]): Step[] {
  const inLeft = new Set(left);
  const inRight = new Set(right);
  const shared = right.filter((element) => inLeft.has(element));
  const taken = new Set<string>();
  const steps: Step[] = [];
  let next = shared.shift();
  let l = 0;
  let r = 0;

  function takeRight(element: string): void {
    steps.push({ element });
    taken.add(element);
    r++;
  }

  /** Moves over what both sides have; false if neither could. */
  function stepBoth(mine: string | undefined, theirs: string | undefined): boolean {
    if (mine === undefined || theirs === undefined) return false;
    if (mine === theirs) {
      takeRight(theirs);
      l++;
      next = shared.shift();
      return true;
    }
    if (!inRight.has(mine) || next === undefined || next === mine) return false;
    // It comes later, in the order of the right side.
    l++;
    return true;
  }

  function stepLeft(mine: string | undefined): boolean {
    if (mine === undefined) return false;
    if (!inRight.has(mine)) {
      steps.push({ element: mine, leftIndex: l });
      l++;
      return true;
    }
    if (taken.has(mine)) l++;
    return false;
  }

  while (l < left.length || r < right.length) {
    const theirs = right[r];
    if (stepBoth(left[l], theirs) || stepLeft(left[l]) || theirs === undefined) continue;
    takeRight(theirs);
    if (next === theirs) next = shared.shift();
  }
  return steps;
}
