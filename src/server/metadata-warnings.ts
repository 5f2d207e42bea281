/** What the API says about metadata that it takes, but that nobody should send. Pure. */
import { FOREGROUND_FINALIZER, type KindObject, ORPHAN_FINALIZER } from '#api/meta.ts';

const PLAIN_FINALIZERS = [FOREGROUND_FINALIZER, ORPHAN_FINALIZER, 'kubernetes'];

/** Only of finalizers that this write adds. */
export function finalizerWarnings({ metadata: { finalizers } }: KindObject, current?: KindObject): string[] {
  const before = current?.metadata.finalizers;
  if (!finalizers || finalizers === before) return [];
  const isUnqualified = (name: string) => /^[-A-Za-z0-9_.]+$/.test(name) && !PLAIN_FINALIZERS.includes(name);
  const unqualified = finalizers.filter((name) => isUnqualified(name) && !before?.includes(name));
  return [...new Set(unqualified)]
    .sort()
    .map(
      (name) =>
        `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
}

/** An owner counts once, the first time it is named. `when`: at which moment it was noticed, where that is not at once. */
export function withUniqueOwners(object: KindObject, warnings: string[], when = ''): KindObject {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return object;
  const seen = new Set<string>();
  const twice = new Set<string>();
  const unique = owners.filter(({ uid }) => {
    const isNew = !seen.has(uid);
    (isNew ? seen : twice).add(uid);
    return isNew;
  });
  if (twice.size === 0) return object;
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...twice].join(', ')}`,
  );
  return { ...object, metadata: { ...object.metadata, ownerReferences: unique } };
}
