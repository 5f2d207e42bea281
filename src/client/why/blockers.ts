/** Everything at once: the ends of all chains, each once, with those that wait for it. Pure. */
import type { KindObject } from '#api/meta.ts';
import { mindDirectories } from './directory.ts';
import { refusedEdit, type Step, stepOf } from './explain.ts';
import type { Advice, Finding } from './finding.ts';
import { look } from './look.ts';
import { type ServerStep, serverSteps } from './server.ts';
import type { View } from './view.ts';
import { idOf } from './words.ts';

export interface Blocker extends Step {
  /** Others of the same kind with the same complaint. */
  readonly alike: readonly string[];
  readonly inTheWayOf: readonly string[];
  readonly advice?: Advice;
}

interface Looked {
  readonly object: KindObject;
  readonly finding: Finding;
}

/** Those that most others wait for come first. */
export function blockersIn(view: View, now: Date): readonly Blocker[] {
  const looked = view.objects.map((object) => ({ object, finding: look(object, { view, now }) }));
  const waiters = waitersOf(looked);
  const ends = looked.filter(({ finding }) => finding.state === 'stuck' && (finding.leads ?? []).length === 0);
  const blockers = ends.flatMap((end) => blockerOf(end, waiters, view));
  const edits = looked.filter(({ finding }) => finding.state !== 'stuck').flatMap(({ object }) => editOf(object));
  return [...serverSteps(view).map(ofServer), ...[...joined(blockers), ...edits].sort((a, b) => weightOf(b) - weightOf(a))];
}

function ofServer({ advice, ...step }: ServerStep): Blocker {
  return { ...step, alike: [], inTheWayOf: [], ...(advice ? { advice } : {}) };
}

type Waiters = ReadonlyMap<string, readonly string[]>;

/** Who waits directly for whom. A team that is fine is not in trouble because of its tasks. */
function waitersOf(looked: readonly Looked[]): Waiters {
  const waiters = new Map<string, string[]>();
  for (const { object, finding } of looked) {
    if (finding.state === 'fine') continue;
    for (const lead of finding.leads ?? []) {
      const known = waiters.get(idOf(lead));
      if (known) known.push(idOf(object));
      else waiters.set(idOf(lead), [idOf(object)]);
    }
  }
  return waiters;
}

function blockerOf(end: Looked, waiters: Waiters, view: View): Blocker[] {
  const inTheWayOf = allWaiting(idOf(end.object), waiters);
  const { isWished } = end.finding;
  const advice = mindDirectories(end.finding.advice, view);
  if (isWished === true && inTheWayOf.length === 0) return [];
  return [{ ...stepOf(end), alike: [], inTheWayOf, ...(advice ? { advice } : {}) }];
}

function allWaiting(id: string, waiters: Waiters): readonly string[] {
  const seen = new Set([id]);
  for (const each of seen) for (const waiter of waiters.get(each) ?? []) seen.add(waiter);
  seen.delete(id);
  return [...seen];
}

/** What the same change would mend is told once. */
function joined(blockers: readonly Blocker[]): readonly Blocker[] {
  const byComplaint = new Map<string, Blocker>();
  for (const blocker of blockers) {
    const key = `${blocker.object.split('/')[0]} ${blocker.says} ${blocker.because}`;
    const first = byComplaint.get(key);
    byComplaint.set(key, first ? withAlike(first, blocker) : blocker);
  }
  return [...byComplaint.values()];
}

function withAlike(first: Blocker, { object, inTheWayOf }: Blocker): Blocker {
  return { ...first, alike: [...first.alike, object], inTheWayOf: [...new Set([...first.inTheWayOf, ...inTheWayOf])] };
}

function editOf(object: KindObject): Blocker[] {
  const { steps = [], advice } = refusedEdit(object) ?? {};
  return steps.map((step) => ({ ...step, alike: [], inTheWayOf: [], ...(advice ? { advice } : {}) }));
}

function weightOf({ alike, inTheWayOf }: Blocker): number {
  return alike.length + inTheWayOf.length;
}
