/** Questions about rights, which a Kubernetes API takes as objects to create and answers in their status. */
import { requestJson } from '#client/resource-api.ts';
import type { Session } from '../api-command.ts';

export interface Question {
  readonly group: 'authorization' | 'authentication';
  readonly kind: string;
  readonly spec?: unknown;
}

export function review<T>({ connection, signal }: Session, { group, kind, spec }: Question): Promise<T> {
  const apiVersion = `${group}.k8s.io/v1`;
  return requestJson<T>(connection, {
    method: 'POST',
    path: `/apis/${apiVersion}/${kind.toLowerCase()}s`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind, apiVersion, metadata: {}, spec }),
    signal,
  });
}
