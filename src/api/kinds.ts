/** Every kind the store knows: ours from the CRDs, and the few core kinds that controllers and clients need. */
import { InvalidError } from '#lib/errors.ts';
import { copyJson } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import { crds } from './generated/schemas.ts';
import type { KindObject } from './meta.ts';
import type { CustomResourceDefinition } from './schema.ts';
import { type Admit, admissionOf } from './validate.ts';

export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly apiVersion: string;
  /** Has a YAML file of its own that people may edit; other kinds live in the journal only. */
  readonly hasFile: boolean;
  readonly selectableFields: readonly string[];
  readonly admit: Admit;
  readonly crd?: CustomResourceDefinition;
}

function fromCrd(crd: CustomResourceDefinition): Kind {
  const { names, group } = crd.spec;
  const version = crd.spec.versions[0];
  if (!version) throw new Error(`${crd.metadata.name}: a CRD needs a version`);
  const apiVersion = `${group}/${version.name}`;
  return {
    kind: names.kind,
    plural: names.plural,
    singular: names.singular,
    shortNames: names.shortNames ?? [],
    apiVersion,
    hasFile: true,
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.slice(1)),
    admit: admissionOf({ kind: names.kind, apiVersion, schema: version.schema.openAPIV3Schema }),
    crd,
  };
}

/** Written by our own runtime only, which knows their shape. */
function builtIn(kind: string, plural: string, apiVersion: string, selectableFields: readonly string[] = []): Kind {
  const admit = (object: KindObject) => copyJson(object);
  return { kind, plural, singular: kind.toLowerCase(), shortNames: [], apiVersion, hasFile: false, selectableFields, admit };
}

const EVENT_FIELDS = ['name', 'namespace', 'kind', 'uid', 'apiVersion'].map((field) => `involvedObject.${field}`);

export const kinds: readonly Kind[] = [
  ...crds.map(fromCrd),
  builtIn('Event', 'events', 'v1', [...EVENT_FIELDS, 'reason', 'type']),
  builtIn('Lease', 'leases', 'coordination.k8s.io/v1'),
];

const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));

export function kindNamed(name: string): Kind | undefined {
  return byKind.get(name);
}

/** Validation of any object by its kind, as the store needs it. */
export const admission = {
  admit(object: KindObject, old: KindObject | undefined): KindObject {
    return (byKind.get(object.kind) ?? knownKind(object.kind)).admit(object, old);
  },
};

/** A kind that people write. Throws an explanation for every other. */
export function knownKind(name: unknown): Kind {
  const kind = typeof name === 'string' ? byKind.get(name) : undefined;
  if (kind?.crd) return kind;
  const ours = kinds.filter(({ crd }) => crd).map((known) => known.kind);
  const meant = typeof name === 'string' ? nearest(name, ours) : undefined;
  const accepted = meant ? `did you mean ${meant}?` : `expected one of ${ours.join(', ')}`;
  const shown = name === undefined ? 'kind: Required value' : `kind: unknown kind ${JSON.stringify(name)}`;
  throw new InvalidError(`${shown}; ${accepted}`, [
    { path: 'kind', segments: ['kind'], kind: 'NotSupported', message: `${shown.replace('kind: ', '')}; ${accepted}` },
  ]);
}
