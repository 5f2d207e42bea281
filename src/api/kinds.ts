/** Every kind the store knows: ours from the CRDs, and the few core kinds that controllers and clients need. */
import { InvalidError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { builtInKinds } from './built-in.ts';
import { crds } from './generated/schemas.ts';
import type { Kind } from './kind.ts';
import type { KindObject } from './meta.ts';
import { ownRulesOf } from './own-rules.ts';
import { checkRelations, type StoredObjects } from './relations.ts';
import { type CustomResourceDefinition, OBJECT_META } from './schema.ts';
import { admissionOf } from './validate.ts';

function fromCrd(crd: CustomResourceDefinition): Kind {
  const { names, group, scope } = crd.spec;
  const version = crd.spec.versions[0];
  if (!version) throw new Error(`${crd.metadata.name}: a CRD needs a version`);
  const apiVersion = `${group}/${version.name}`;
  const schema = version.schema.openAPIV3Schema;
  return {
    kind: names.kind,
    plural: names.plural,
    singular: names.singular,
    listKind: names.listKind,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    group,
    version: version.name,
    apiVersion,
    isNamespaced: scope === 'Namespaced',
    hasStatus: version.subresources?.['status'] !== undefined,
    hasFile: true,
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.slice(1)),
    columns: version.additionalPrinterColumns ?? [],
    schema: { ...schema, properties: { ...schema.properties, metadata: OBJECT_META } },
    admit: admissionOf({ kind: names.kind, apiVersion, schema, shapedRules: ownRulesOf(names.kind) }),
    crd,
  };
}

export const kinds: readonly Kind[] = [...crds.map(fromCrd), ...builtInKinds];

const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));

export function kindNamed(name: string): Kind | undefined {
  return byKind.get(name);
}

/** Validation of any object by its kind, and beside the stored ones where they are known, as the store needs it. */
export const admission = {
  admit(object: KindObject, old: KindObject | undefined, stored?: StoredObjects): KindObject {
    const admitted = (byKind.get(object.kind) ?? knownKind(object.kind)).admit(object, old);
    if (stored) checkRelations(admitted, old, stored);
    return admitted;
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
