/** A merged kubeconfig as one document to show, without its secrets unless they are asked for. */
import type { JsonObject } from '#lib/json.ts';
import { type Kubeconfig, type Named, selectContext } from './kubeconfig.ts';

export interface ViewOptions {
  readonly isRaw: boolean;
  /** Only this context and what it needs. */
  readonly only?: string | undefined;
}

const SECRETS: Readonly<Record<string, string>> = {
  token: 'REDACTED',
  password: 'REDACTED',
  'certificate-authority-data': 'DATA+OMITTED',
  'client-certificate-data': 'DATA+OMITTED',
  'client-key-data': 'DATA+OMITTED',
};

export function kubeconfigView(config: Kubeconfig, { isRaw, only }: ViewOptions): JsonObject {
  const selected = only === undefined ? undefined : selectContext(config, only);
  const entries = (key: string, list: readonly Named<object>[]) =>
    list.map(({ name, value }) => ({ [key]: isRaw ? value : redacted(value as JsonObject), name }));
  return {
    apiVersion: 'v1',
    clusters: entries('cluster', selected ? [selected.cluster] : config.clusters),
    contexts: entries('context', selected ? [selected.context] : config.contexts),
    'current-context': selected ? selected.context.name : config.currentContext,
    kind: 'Config',
    users: entries('user', selected ? (selected.user ? [selected.user] : []) : config.users),
  };
}

function redacted(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, Object.hasOwn(SECRETS, key) && member !== '' ? SECRETS[key] : member]),
  );
}
