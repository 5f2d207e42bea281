/** Events that clients write, whatever the verb: here and not where all events pass, because our own know where they belong. */
import { eventProblems } from '#api/event-rules.ts';
import type { KindObject } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import { storedForm } from './forms.ts';
import { kindForm } from './kind-types.ts';
import type { Route } from './route.ts';

/** What is to be stored, as Kubernetes would write it, and looked at once more if it is an event. */
export function checkedForm(route: Route, next: KindObject, current?: KindObject): KindObject {
  if (route.resource.stored?.crd) return next;
  const stored = storedForm(route, kindForm(next), current);
  if (stored.kind !== 'Event') return stored;
  const problems = eventProblems(stored, { old: current, isNewer: route.resource.group !== '' });
  if (problems.length > 0) throw new InvalidError('the event is invalid', problems);
  return stored;
}
