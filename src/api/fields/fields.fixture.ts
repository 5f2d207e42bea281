/** A small kind with one of everything that ownership treats differently. */
import type { KindObject, ManagedFieldsEntry } from '../meta.ts';
import { OBJECT_META, type Schema } from '../schema.ts';
import type { Writer } from './track.ts';

const text: Schema = { type: 'string' };

const member: Schema = {
  type: 'object',
  properties: { name: text, weight: { type: 'integer' }, tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text } },
};

const port: Schema = {
  type: 'object',
  properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, note: text },
};

export const SCHEMA: Schema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: OBJECT_META,
    spec: {
      type: 'object',
      properties: {
        leader: text,
        replicas: { type: 'integer' },
        paused: { type: 'boolean' },
        size: { 'x-kubernetes-int-or-string': true },
        until: { type: 'string', format: 'date-time', nullable: true },
        budget: { type: 'object', properties: { agents: { type: 'integer' }, cost: { type: 'number' } } },
        ref: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { kind: text, name: text } },
        members: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: member },
        ports: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port', 'protocol'], items: port },
        skills: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        args: { type: 'array', items: text },
        env: { type: 'object', additionalProperties: text },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: text,
        conditions: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
          items: { type: 'object', properties: { type: text, status: text } },
        },
      },
    },
  },
};

export const API_VERSION = 'agentiso.dev/v1alpha1';

export interface TeamSpec {
  readonly [field: string]: unknown;
}

export function team(spec?: TeamSpec, metadata: Partial<KindObject['metadata']> = {}): KindObject {
  // As a client sends it: the server fills in the rest.
  const given = { name: 't', namespace: 'ns', ...metadata } as KindObject['metadata'];
  return { apiVersion: API_VERSION, kind: 'Team', metadata: given, ...(spec !== undefined && { spec }) };
}

export function by(manager: string, second = 0, subresource?: 'status'): Writer {
  const now = `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
  return { manager, now, apiVersion: API_VERSION, ...(subresource !== undefined && { subresource }) };
}

export function withManaged(obj: KindObject, managedFields: ManagedFieldsEntry[] | undefined): KindObject {
  const { managedFields: _, ...metadata } = obj.metadata;
  return { ...obj, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

/** Fields by manager, as short as a test can say it. */
export function owners(obj: KindObject): Record<string, unknown> {
  return Object.fromEntries((obj.metadata.managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1]));
}
