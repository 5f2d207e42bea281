/** A server's OpenAPI v3 documents: the schema of a kind, with references followed where they stand. */
import { NotFoundError } from '#lib/errors.ts';
import type { Connection } from './connection.ts';
import { type ApiResource, apiVersionOf } from './discovery.ts';
import { getJson } from './resource-api.ts';

export interface OpenApiSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
}

export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> };
}

export interface KindSchema {
  readonly schema: OpenApiSchema;
  readonly document: OpenApiDocument;
}

export async function loadSchema(connection: Connection, resource: ApiResource): Promise<KindSchema> {
  const { paths } = await getJson<{ paths: Record<string, { serverRelativeURL: string } | undefined> }>(connection, '/openapi/v3');
  const url = paths[`${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}`]?.serverRelativeURL;
  if (!url)
    throw new NotFoundError(`couldn't find resource for "${apiVersionOf(resource)}, Resource=${resource.plural}" in the server's OpenAPI`);
  const document = await getJson<OpenApiDocument>(connection, url);
  const schema = Object.values(document.components?.schemas ?? {}).find((each) => isOf(each, resource));
  if (!schema) throw new NotFoundError(`the server's OpenAPI does not describe ${resource.kind} of ${apiVersionOf(resource)}`);
  return { schema, document };
}

function isOf(schema: OpenApiSchema, { group, version, kind }: ApiResource): boolean {
  const named = schema['x-kubernetes-group-version-kind'] ?? [];
  return named.some((each) => each.group === group && each.version === version && each.kind === kind);
}

const REFERENCE = '#/components/schemas/';

export interface Followed {
  readonly schema: OpenApiSchema;
  /** Last part of the name it is known by: `ObjectMeta`. */
  readonly name: string | undefined;
}

/** What is said beside a reference goes over what it refers to. */
export function followReference(schema: OpenApiSchema, document: OpenApiDocument): Followed {
  const target = referenceOf(schema, document);
  if (!target) return { schema, name: undefined };
  const { $ref: _, allOf: __, ...beside } = schema;
  return { schema: { ...target, ...beside }, name: linkOf(schema)?.split('.').pop() };
}

export function referenceOf(schema: OpenApiSchema, document: OpenApiDocument): OpenApiSchema | undefined {
  const link = linkOf(schema);
  return link === undefined ? undefined : (document.components?.schemas?.[link.slice(REFERENCE.length)] ?? {});
}

function linkOf({ $ref, allOf }: OpenApiSchema): string | undefined {
  return $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined);
}
