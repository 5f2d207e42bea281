/** One look at one object, whatever it is. Pure. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import { lookAtAgent } from './agent.ts';
import { lookAtDeleting } from './deleting.ts';
import { type Finding, fine, leadingTo, type Sight } from './finding.ts';
import { lookAtMerge } from './merge.ts';
import { lookAtOther, lookAtPod } from './other.ts';
import { lookAtSnapshot } from './rest.ts';
import { lookAtTask } from './task.ts';
import { lookAtTeam } from './team.ts';
import { listed, plural } from './words.ts';

export function look(object: KindObject, sight: Sight): Finding {
  if (object.kind === 'Namespace') return lookAtNamespace(object, sight);
  if (object.metadata.deletionTimestamp !== undefined) return lookAtDeleting(object, sight);
  switch (object.kind) {
    case 'Team':
      return lookAtTeam(object as Team, sight);
    case 'Agent':
      return lookAtAgent(object as Agent, sight);
    case 'Task':
      return lookAtTask(object as Task, sight);
    case 'Merge':
      return lookAtMerge(object, sight);
    case 'Snapshot':
      return lookAtSnapshot(object, sight);
    case 'Pod':
      return lookAtPod(object, sight);
    default:
      return lookAtOther(object, sight);
  }
}

/** It goes when everything in it is gone. */
function lookAtNamespace(namespace: KindObject, sight: Sight): Finding {
  if (namespace.metadata.deletionTimestamp === undefined) return fine('is Active', 'nothing is known to stand in its way');
  const left = sight.view.objects.filter((object) => object !== namespace);
  if (left.length === 0) return lookAtDeleting(namespace, sight);
  const kinds = new Map<string, number>();
  for (const { kind } of left) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const counts = [...kinds].map(([kind, count]) => plural(count, kind));
  return leadingTo(left, 'is Terminating', `it still holds ${listed(counts)}`);
}
