/** PartialObjectMetadata and its list: objects of which a client wants nothing but the metadata. */
import { RequestError } from '../body/request-error.ts';
import type { Negotiated } from './negotiate.ts';

export type MetaVersion = Negotiated['version'];

export interface WithMetadata {
  readonly kind?: string;
  readonly metadata?: unknown;
}

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface PartialObject {
  readonly kind: 'PartialObjectMetadata';
  readonly apiVersion: string;
  readonly metadata: unknown;
}

export function apiVersionOf(version: MetaVersion): string {
  return `meta.k8s.io/${version}`;
}

export function partialOf({ metadata = {} }: WithMetadata, version: MetaVersion): PartialObject {
  return { kind: 'PartialObjectMetadata', apiVersion: apiVersionOf(version), metadata };
}

/** Who would rather have protobuf, which does not type items, gets them without types too. */
export function partialListOf(
  objects: readonly WithMetadata[],
  listMeta: ListMeta,
  { version, prefersProtobuf }: Pick<Negotiated, 'version' | 'prefersProtobuf'>,
) {
  return {
    kind: 'PartialObjectMetadataList' as const,
    apiVersion: apiVersionOf(version),
    metadata: listMeta,
    items: objects.map((object) => (prefersProtobuf ? { metadata: object.metadata ?? {} } : partialOf(object, version))),
  };
}

/** A list was asked for as one object. */
export function isAList(listKind: string): RequestError {
  return new RequestError(406, `you requested PartialObjectMetadata, but the requested object is a list (${listKind})`);
}

/** One object was asked for as a list. */
export function isNotAList(kind: string): RequestError {
  return new RequestError(406, `you requested PartialObjectMetadataList, but the requested object is not a list (${kind})`);
}
