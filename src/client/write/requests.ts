/** The writes of a Kubernetes-style API, with the options that all of them share. What the server warns of goes to the person. */

import { UnavailableError } from '#lib/errors.ts';
import type { ApiRequest, Connection } from '../connection.ts';
import { type ApiObject, type ResourceName, resourcePath, send } from '../resource-api.ts';

/** Anything that can talk to the server and to the person. */
export interface Writer {
  readonly connection: Connection;
  readonly err: (text: string) => void;
}

export type DryRun = 'none' | 'client' | 'server';
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteOptions {
  readonly fieldManager: string;
  readonly fieldValidation?: FieldValidation;
  /** Everything is done and checked but nothing is stored. */
  readonly isDryRun?: boolean;
  /** Of a trial: what the object names may be another of the set, which is looked at as a whole here. Servers that never ask ignore it. */
  readonly isPartOfSet?: boolean;
}

export interface ObjectAddress {
  readonly resource: ResourceName;
  readonly namespace: string | undefined;
  readonly name: string;
}

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export type PatchType = keyof typeof PATCH_TYPES;

export interface Patch extends WriteOptions {
  readonly type: PatchType;
  /** JSON, which is YAML too. */
  readonly body: unknown;
  readonly subresource?: string;
  /** Apply only: takes fields away from those who own them. */
  readonly isForced?: boolean;
}

export function createObject(writer: Writer, at: Omit<ObjectAddress, 'name'>, body: unknown, options: WriteOptions): Promise<ApiObject> {
  const path = resourcePath(at.resource, { namespace: at.namespace, query: queryOf(options) });
  return write(writer, { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

export function replaceObject(writer: Writer, at: ObjectAddress, body: unknown, options: WriteOptions): Promise<ApiObject> {
  const path = resourcePath(at.resource, { namespace: at.namespace, name: at.name, query: queryOf(options) });
  return write(writer, { method: 'PUT', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

export function patchObject(writer: Writer, at: ObjectAddress, patch: Patch): Promise<ApiObject> {
  const { resource, namespace, name } = at;
  const { subresource, type, body, isForced, ...options } = patch;
  const query = { ...queryOf(options), force: isForced ? true : undefined };
  const path = resourcePath(resource, { namespace, name, query, ...(subresource ? { subresource } : {}) });
  return write(writer, { method: 'PATCH', path, headers: { 'content-type': PATCH_TYPES[type] }, body: JSON.stringify(body) });
}

export interface Removal {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly isDryRun?: boolean;
  /** Refused when the object is not this one any more. */
  readonly uid?: string;
}

/** The object when it stays for its finalizers, a Status when it is gone. */
export function deleteObject(writer: Writer, { resource, namespace, name }: ObjectAddress, removal: Removal): Promise<ApiObject> {
  const { propagationPolicy, gracePeriodSeconds, isDryRun, uid } = removal;
  const options = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy,
    gracePeriodSeconds,
    preconditions: uid === undefined ? undefined : { uid },
    dryRun: isDryRun ? ['All'] : undefined,
  };
  const path = resourcePath(resource, { namespace, name });
  return write(writer, { method: 'DELETE', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(options) });
}

function queryOf({ fieldManager, fieldValidation, isDryRun, isPartOfSet }: WriteOptions) {
  const relations = isDryRun && isPartOfSet ? 'Ignore' : undefined;
  return { fieldManager, fieldValidation, dryRun: isDryRun ? 'All' : undefined, relations };
}

async function write({ connection, err }: Writer, request: ApiRequest): Promise<ApiObject> {
  const response = await send(connection, request);
  for (const warning of warningsIn(response.headers['warning'])) err(`Warning: ${warning}\n`);
  const text = await response.text();
  try {
    return JSON.parse(text) as ApiObject;
  } catch (error) {
    throw new UnavailableError(`${connection.name} answered ${request.path} with something that is not JSON`, { cause: error });
  }
}

/** `299 - "unknown field \"spec.x\""`, several joined by commas. */
export function warningsIn(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(', ') : (header ?? '');
  return [...text.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'));
}
