/** One object that is to be written, deleted or followed: of which kind, where, and which. */
import { AgentisoError } from '#lib/errors.ts';
import type { Connection } from '../connection.ts';
import type { ApiResource, Discovery } from '../discovery.ts';
import { type ApiObject, getJson, resourcePath } from '../resource-api.ts';
import { metadataOf } from './check-documents.ts';
import type { SourceDocument } from './source-document.ts';

export interface Target {
  readonly resource: ApiResource;
  /** Undefined for what belongs to no namespace. */
  readonly namespace: string | undefined;
  readonly name: string;
  /** The file that named it. */
  readonly source?: string;
}

export function ofDocument({ object, at }: SourceDocument, { discovery, namespace }: { discovery: Discovery; namespace: string }): Target {
  const { apiVersion, kind } = object;
  const resource = discovery.ofKind(String(apiVersion), String(kind));
  const about = `no matches for kind "${kind}" in version "${apiVersion}"`;
  if (!resource) throw new AgentisoError('NotFound', `${at(['kind'])}: ${about}; ensure CRDs are installed first`);
  const { name, namespace: own } = metadataOf(object);
  return { resource, namespace: namespaceOf(resource, String(own ?? namespace)), name: String(name) };
}

export function namespaceOf({ isNamespaced }: ApiResource, namespace: string): string | undefined {
  return isNamespaced ? namespace : undefined;
}

export async function getTarget(connection: Connection, { resource, namespace, name }: Target): Promise<ApiObject> {
  return getJson(connection, resourcePath(resource, { namespace, name }));
}
