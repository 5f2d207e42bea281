/** The front door of the API: what is asked of a write besides what the store asks of every one, once the object is complete. */
import { Dependents } from '#api/dependents.ts';
import { checkAtFrontDoor } from '#api/front-door.ts';
import type { Task } from '#api/types.ts';
import type { Store, WriteOptions } from '#store/store.ts';
import type { Identity } from '../auth/identity.ts';
import type { Call, Serving } from '../call.ts';
import { text } from '../params.ts';

/** Who tries out the documents of a set one by one, and looks at the set as a whole itself, says so: what is missing may be another of them. */
const PART_OF_SET = 'Ignore';

/** The same write, refused where the front door refuses it, and with its warnings. A server that knows no limits has no front door. */
export function atFrontDoor(call: Call, serving: Serving, options: WriteOptions): WriteOptions {
  const { route, query, warnings, identity } = call;
  const { limits, models } = serving;
  if (!limits || !route.resource.stored?.crd || route.subresource) return options;
  const { track = (_current, admitted) => admitted.metadata.managedFields } = options;
  const asked = {
    limits,
    ...(models && { models }),
    hasDependents: (task: Task) => dependentsIn(serving.store).has(task),
    isPartOfSet: options.dryRun === true && text(query, 'relations') === PART_OF_SET,
  };
  return {
    ...options,
    ...(route.resource.kind === 'Task' && { firstStatus: { createdBy: makerOf(identity) } }),
    track(current, admitted) {
      const found = checkAtFrontDoor({ object: admitted, old: current }, serving.store, asked);
      warnings.push(...found.filter((warning) => !warnings.includes(warning)));
      return track(current, admitted);
    },
  };
}

/** By the address at which the team reaches them: people have one together. */
function makerOf({ agent }: Identity): string {
  return agent?.name ?? 'orchestrator';
}

const dependentsOf = new WeakMap<Store, Dependents>();

/** Kept from the first question on, for as long as the store lives. */
function dependentsIn(store: Store): Dependents {
  const known = dependentsOf.get(store);
  if (known) return known;
  const dependents = new Dependents();
  store.watch('Task', {}, ({ type, object }) => (type === 'DELETED' ? dependents.remove(object) : dependents.put(object)));
  dependentsOf.set(store, dependents);
  return dependents;
}
