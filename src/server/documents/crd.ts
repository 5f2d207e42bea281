/** Our CustomResourceDefinitions as a Kubernetes server would show them: read-only, established since the day given. */
import { createHash } from 'node:crypto';
import { crds } from '#api/generated/schemas.ts';
import type { CustomResourceDefinition } from '#api/schema.ts';
import { toSeconds } from '#lib/clock.ts';

/** The same for the same name on every machine and in every run: the definitions are constant. */
function uidOf(name: string): string {
  const hex = createHash('sha256').update(`customresourcedefinition/${name}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

function shown({ apiVersion, kind, metadata, spec }: CustomResourceDefinition, since: string) {
  return {
    apiVersion,
    kind,
    metadata: { ...metadata, uid: uidOf(metadata.name), resourceVersion: '1', generation: 1, creationTimestamp: since },
    spec: { ...spec, conversion: { strategy: 'None' } },
    status: {
      conditions: [
        { type: 'NamesAccepted', status: 'True', lastTransitionTime: since, reason: 'NoConflicts', message: 'no conflicts found' },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: since,
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      acceptedNames: spec.names,
      storedVersions: spec.versions.filter(({ storage }) => storage).map(({ name }) => name),
    },
  };
}

export type ShownCustomResourceDefinition = ReturnType<typeof shown>;

/** Sorted by name, as a list is. */
export function customResourceDefinitions(since: Date): readonly ShownCustomResourceDefinition[] {
  return crds
    .map((crd) => shown(crd, toSeconds(since)))
    .sort((a, b) => Number(a.metadata.name > b.metadata.name) - Number(a.metadata.name < b.metadata.name));
}
