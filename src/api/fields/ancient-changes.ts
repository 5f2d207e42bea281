/** Keeps the list of updaters short: past ten, the oldest become one entry. */
import { union } from './field-set.ts';
import { identityOf, makeEntry } from './manager-entry.ts';
import { compareTexts, compareTimes, type Managers } from './managers.ts';

const MAX_UPDATERS = 10;
const NAME = 'ancient-changes';

/** Changes `managers`. The merged entry has the time of the youngest that went into it. */
export function mergeAncient(managers: Managers): void {
  if (managers.size <= MAX_UPDATERS) return;
  const updaters = [...managers].filter(([, { entry }]) => entry.operation === 'Update');
  let count = updaters.length;
  if (count <= MAX_UPDATERS) return;
  updaters.sort(([idA, a], [idB, b]) => compareTimes(a.entry, b.entry) || compareTexts(idA, idB));
  const oldest = new Map<string, string>();
  for (const [id, { entry }] of updaters) {
    if (count <= MAX_UPDATERS) return;
    const first = oldest.get(entry.apiVersion);
    if (first === undefined) {
      oldest.set(entry.apiVersion, id);
      continue;
    }
    mergeInto(managers, first, id);
    count--;
  }
}

function mergeInto(managers: Managers, first: string, id: string): void {
  const one = managers.get(id);
  if (one === undefined) return;
  const identity = { manager: NAME, operation: 'Update', apiVersion: one.entry.apiVersion } as const;
  const bucketId = identityOf(identity);
  // The entry may be there from before; the first of the oldest goes into it only if it is made now, or if it is this one.
  const bucket = id === bucketId || !managers.has(bucketId) ? managers.get(first) : managers.get(bucketId);
  if (id === bucketId || !managers.has(bucketId)) managers.delete(first);
  managers.delete(id);
  const set = bucket === undefined ? one.set : union(bucket.set, one.set);
  managers.set(bucketId, { entry: makeEntry({ ...identity, time: one.entry.time }), set });
}
