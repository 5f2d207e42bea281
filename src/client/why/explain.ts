/** From an object to the one thing that blocks: follows what each says it waits for to the worst that is at the end of it. Pure. */
import type { KindObject } from '#api/meta.ts';
import { isObject } from '#lib/json.ts';
import { mindDirectories } from './directory.ts';
import type { Advice, Finding, State } from './finding.ts';
import { look } from './look.ts';
import { type ServerStep, serverSteps } from './server.ts';
import type { View } from './view.ts';
import { conditionOf, idOf, wordsOf } from './words.ts';

export interface Step {
  /** `task/sprint-build` */
  readonly object: string;
  readonly says: string;
  readonly because?: string;
}

export interface Explanation {
  readonly object: string;
  readonly state: State;
  /** From the object that was asked about down to what blocks it. */
  readonly steps: readonly Step[];
  readonly advice?: Advice;
}

interface Place {
  readonly object: KindObject;
  readonly finding: Finding;
  readonly from: Place | undefined;
}

const AT_WORK = ['Claimed', 'Running', 'Working', 'Starting', 'Merging'];
const WEIGHT: Readonly<Record<State, number>> = { fine: 0, waiting: 1, stuck: 2 };

export function explain(object: KindObject, view: View, now: Date): Explanation {
  // As the others see it.
  const own = view.find(object.kind, object.metadata.name) ?? object;
  const start: Place = { object: own, finding: look(own, { view, now }), from: undefined };
  const end = worstEnd(start, view, now);
  const state = stateOf(start, end);
  const refusal = state === 'stuck' ? undefined : refusedEdit(object);
  if (refusal) return { object: idOf(object), state: 'stuck', ...refusal };
  const [broken] = isAtRest(own, state) ? [] : serverSteps(view);
  if (broken) return underBroken(broken, { object: idOf(object), steps: pathTo(end).map(stepOf) });
  const advice = mindDirectories(adviceOf(end.finding, state), view);
  return { object: idOf(object), state, steps: pathTo(end).map(stepOf), ...(advice ? { advice } : {}) };
}

/** It wants nothing of the server any more. */
function isAtRest({ status }: KindObject, state: State): boolean {
  const phase = isObject(status) ? String(status['phase'] ?? '') : '';
  return state === 'fine' && !AT_WORK.includes(phase);
}

function underBroken({ advice, ...step }: ServerStep, { object, steps }: Pick<Explanation, 'object' | 'steps'>): Explanation {
  return { object, state: 'stuck', steps: [...steps, step], ...(advice ? { advice } : {}) };
}

function stateOf(start: Place, end: Place): State {
  if (start === end && end.finding.isWished === true) return 'fine';
  return WEIGHT[start.finding.state] > WEIGHT[end.finding.state] ? start.finding.state : end.finding.state;
}

function adviceOf({ advice, patience }: Finding, state: State): Advice | undefined {
  return advice ?? (patience !== undefined && state !== 'fine' ? { text: patience } : undefined);
}

/** Breadth first, so that of equally bad ends the nearest is found, and what waits in circles is seen once. */
function worstEnd(start: Place, view: View, now: Date): Place {
  const seen = new Set([idOf(start.object)]);
  const queue = [start];
  let worst: Place | undefined;
  for (const place of queue) {
    const { leads = [], state } = place.finding;
    if (leads.length === 0 && isWorse(state, worst)) worst = place;
    if (worst?.finding.state === 'stuck') break;
    const unseen = leads.filter((next) => !seen.has(idOf(next)));
    for (const next of unseen) seen.add(idOf(next));
    queue.push(...unseen.map((next) => ({ object: next, finding: look(next, { view, now }), from: place })));
  }
  return worst ?? start;
}

function isWorse(state: State, than: Place | undefined): boolean {
  return than === undefined || WEIGHT[state] > WEIGHT[than.finding.state];
}

function pathTo(end: Place): readonly Place[] {
  const path: Place[] = [];
  for (let at: Place | undefined = end; at !== undefined; at = at.from) path.push(at);
  return path.reverse();
}

export function stepOf({ object, finding: { says, because } }: Pick<Place, 'object' | 'finding'>): Step {
  return { object: idOf(object), says, ...(because === undefined || because === '' ? {} : { because }) };
}

/** It goes on as before; whoever edited its file wanted something else. */
export function refusedEdit(object: KindObject): Pick<Explanation, 'steps' | 'advice'> | undefined {
  const condition = conditionOf(object, 'EditRejected');
  if (condition?.status !== 'True') return undefined;
  const { kind, metadata } = object;
  const file = `resources/${kind.toLowerCase()}s/${metadata.namespace}/${metadata.name}.yaml`;
  const because = `EditRejected: ${wordsOf(condition)}`;
  return {
    steps: [{ object: idOf(object), says: 'has a file whose last edit was refused', because }],
    advice: { text: `make the edit again without the mistake, in ${file} of the home; the refused text is beside it (.rejected)` },
  };
}
