/** Objects that no controller of ours looks after as closely: in the words of their own conditions, or of what happened to them. Pure. */
import type { Condition, KindObject } from '#api/meta.ts';
import { isObject } from '#lib/json.ts';
import { describe } from './commands.ts';
import { type Finding, fine, leadingTo, type Sight, stuck } from './finding.ts';
import { findAgent } from './view.ts';
import { idOf, wordsOf } from './words.ts';

/** An agent is also a Pod of the same name; what is wrong is wrong with the agent. */
export function lookAtPod(pod: KindObject, sight: Sight): Finding {
  const agent = findAgent(sight.view, pod.metadata.name);
  return agent ? leadingTo([agent], `is ${phaseOf(pod) ?? 'there'}`, `it shows ${idOf(agent)}`) : lookAtOther(pod, sight);
}

/** Conditions whose False is no complaint. */
const HARMLESS = ['EditRejected', 'Stuck', 'FileOverlap'];

export function lookAtOther(object: KindObject, { view }: Sight): Finding {
  const phase = phaseOf(object);
  const says = phase === undefined ? 'is there' : `is ${phase}`;
  const advice = { text: 'what happened to it:', command: describe(view, object) };
  const complaint = conditionsOf(object).find(({ type, status }) => status === 'False' && !HARMLESS.includes(type));
  if (complaint) return stuck(`${says} and not ${complaint.type}`, wordsOf(complaint), advice);
  const warning = view.lastWarning(object);
  if (warning) return stuck(says, `nothing but its last warning says more: ${wordsOf(warning)}`, advice);
  return fine(says, 'nothing is known to stand in its way');
}

function conditionsOf({ status }: KindObject): readonly Condition[] {
  return isObject(status) && Array.isArray(status['conditions']) ? (status['conditions'] as readonly Condition[]) : [];
}

function phaseOf({ status }: KindObject): string | undefined {
  return isObject(status) && typeof status['phase'] === 'string' ? status['phase'] : undefined;
}
