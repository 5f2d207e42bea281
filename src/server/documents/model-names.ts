/** The names of schemas in OpenAPI documents, as Kubernetes gives them. */
import type { Schema } from '#api/schema.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const REFERENCE = '#/components/schemas/';
const API_EXTENSIONS = 'apiextensions.k8s.io';

export function metaModel(name: string): string {
  return `${META}.${name}`;
}

function packageOf(group: string): string {
  if (group === '') return 'io.k8s.api.core';
  if (group === API_EXTENSIONS) return 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions';
  if (group.endsWith('.k8s.io')) return `io.k8s.api.${group.slice(0, -'.k8s.io'.length)}`;
  return group.split('.').reverse().join('.');
}

/** `dev.agentiso.v1alpha1.Team`, `io.k8s.api.core.v1.Namespace`. */
export function modelName({ group, version }: { readonly group: string; readonly version: string }, kind: string): string {
  return `${packageOf(group)}.${version}.${kind}`;
}

export function reference(model: string): Schema {
  return { $ref: `${REFERENCE}${model}` };
}

/** OpenAPI 3.0 ignores what stands beside a $ref; inside allOf the description counts. */
export function describedReference(model: string, description: string): Schema {
  return { allOf: [reference(model)], description };
}

/** The model that a reference points to. */
export function referredModel(schema: Schema): string | undefined {
  const target = schema['$ref'];
  return typeof target === 'string' ? target.slice(REFERENCE.length) : undefined;
}
