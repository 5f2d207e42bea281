/** From the rules that are to the rules that should be, as one transaction. Pure. */
import type { KernelRules } from './read-back.ts';
import { addElements, type Elements, INTERVAL_SETS, renderRuleset, SET_NAMES, type SetName, TABLE } from './ruleset.ts';

export interface Plan {
  /** For `nft -f -`. */
  readonly text: string;
  /** What differs, for people. */
  readonly what: string;
  /** What the kernel will say that it did, in any order (see proof.ts). Undefined where that cannot be foretold. */
  readonly changes: readonly string[] | undefined;
}

/** Undefined: nothing to do. `have` undefined: there is no table. */
export function planRules(have: KernelRules | undefined, want: Elements, shape: string): Plan | undefined {
  if (have === undefined) return { text: renderRuleset(want), what: `table ${TABLE} is missing`, changes: undefined };
  if (have.shape !== shape) return { text: renderRuleset(want), what: `rules of table ${TABLE} were changed`, changes: undefined };
  const plans = SET_NAMES.map((name) => planSet(name, have.elements[name], want[name])).filter((plan) => plan !== undefined);
  if (plans.length === 0) return undefined;
  return {
    text: plans.map(({ text }) => text).join(''),
    what: plans.map(({ what }) => what).join(', '),
    changes: plans.every(({ changes }) => changes !== undefined) ? plans.flatMap(({ changes = [] }) => changes) : undefined,
  };
}

function planSet(name: SetName, have: readonly string[], want: readonly string[]): Plan | undefined {
  const [isThere, isWanted] = [new Set(have), new Set(want)];
  const surplus = have.filter((element) => !isWanted.has(element));
  const missing = want.filter((element) => !isThere.has(element));
  if (surplus.length === 0 && missing.length === 0) return undefined;
  const what = `${name} has ${surplus.length} elements too many and ${missing.length} too few`;
  if (INTERVAL_SETS.has(name)) return { text: `flush set ${TABLE} ${name}\n${addElements(name, want)}`, what, changes: undefined };
  const changes = [
    ...surplus.map((element) => changeText('delete', name, element)),
    ...missing.map((element) => changeText('add', name, element)),
  ];
  return { text: `${deleteElements(name, surplus)}${addElements(name, missing)}`, what, changes };
}

export function changeText(verb: 'add' | 'delete', name: string, element: string): string {
  return `${verb} ${name} ${element}`;
}

/** By key: deleting with a value that is not there would fail the whole transaction. */
function deleteElements(name: SetName, elements: readonly string[]): string {
  const keys = elements.map((element) => element.split(' : ', 1)[0]);
  return keys.length === 0 ? '' : `delete element ${TABLE} ${name} { ${keys.join(', ')} }\n`;
}
