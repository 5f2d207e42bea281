/**
 * What a namespace that is being deleted still waits for, as conditions in the words of Kubernetes: tools and people look there for why
 * one does not go.
 */
import { kindNamed } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import { setCondition } from '#runtime/conditions.ts';

/** Of these nothing can go wrong here; whoever reads all five finds them. */
const WELL = [
  { type: 'NamespaceDeletionDiscoveryFailure', reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
];

/** Changes `namespace` in place. `contents` are all being deleted. */
export function sayWhatRemains(namespace: KindObject, contents: readonly KindObject[], now: Date): void {
  const say = (type: string, status: 'True' | 'False', reason: string, message: string) =>
    setCondition(namespace, { type, status, reason, message, isOfAnyGeneration: true }, now);
  for (const { type, reason, message } of WELL) say(type, 'False', reason, message);
  const resources = countsOf(contents.map(resourceOf), (name, count) => `${name} has ${count} resource instances`);
  say('NamespaceContentRemaining', 'True', 'SomeResourcesRemain', `Some resources are remaining: ${resources}`);
  const finalizers = countsOf(
    contents.flatMap(({ metadata }) => metadata.finalizers ?? []),
    (name, count) => `${name} in ${count} resource instances`,
  );
  if (finalizers === '') {
    say('NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished');
  } else {
    const message = `Some content in the namespace has finalizers remaining: ${finalizers}`;
    say('NamespaceFinalizersRemaining', 'True', 'SomeFinalizersRemain', message);
  }
}

/** Kubernetes leaves the dot behind those of the core group. */
function resourceOf({ kind: name }: KindObject): string {
  const { plural, group } = kindNamed(name) ?? { plural: name, group: '' };
  return `${plural}.${group}`;
}

function countsOf(names: readonly string[], say: (name: string, count: number) => string): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => say(name, count))
    .sort()
    .join(', ');
}
