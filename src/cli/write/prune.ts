/** `apply --prune`: what was applied before, is selected, and is not in the set any more goes. What was never applied is not ours to delete. */
import { GROUP } from '#api/meta.ts';
import type { ApiResource } from '#client/discovery.ts';
import { type ApiObject, listObjects } from '#client/resource-api.ts';
import { isNotFound } from '#client/status-error.ts';
import type { Applied } from '#client/write/apply-set.ts';
import { hasLastApplied } from '#client/write/last-applied.ts';
import { type DryRun, deleteObject } from '#client/write/requests.ts';
import { isObject } from '#lib/json.ts';
import type { Session } from '../api-command.ts';
import type { Result } from './results.ts';

export interface PruneOptions {
  readonly applied: readonly Applied[];
  /** Undefined: --all. */
  readonly labelSelector: string | undefined;
  /** Whose server-side applied objects count. */
  readonly fieldManager: string;
  readonly dryRun: DryRun;
  /** `group/version/Kind`; undefined: all kinds that people write. */
  readonly allowed: readonly string[] | undefined;
}

export async function prune(session: Session, options: PruneOptions, report: (result: Result) => void): Promise<void> {
  const kept = new Set(options.applied.map(({ object }) => object.metadata.uid));
  const namespaces = new Set(options.applied.flatMap(({ item }) => item.target.namespace ?? []));
  for (const namespace of namespaces) {
    for (const resource of prunable((await session.discovery()).resources, options.allowed)) {
      const query = { labelSelector: options.labelSelector };
      const { items } = await listObjects(session.connection, { resource, location: { namespace, query } });
      const gone = items.filter((object) => !kept.has(object.metadata.uid) && isApplied(object, options.fieldManager));
      for (const object of gone) await remove(session, { resource, object, options, report });
    }
  }
}

/** Kinds that people write; everything else somebody made for a reason of their own. */
function prunable(resources: readonly ApiResource[], allowed: readonly string[] | undefined): ApiResource[] {
  const canGo = resources.filter(({ isPreferred, verbs }) => isPreferred && verbs.includes('list') && verbs.includes('delete'));
  if (allowed === undefined) return canGo.filter(({ group }) => group === GROUP);
  const typeOf = ({ group, version, kind }: ApiResource) => `${group || 'core'}/${version}/${kind}`;
  return canGo.filter((resource) => allowed.includes(typeOf(resource)));
}

export function isApplied(object: ApiObject, fieldManager: string): boolean {
  if (object.metadata['deletionTimestamp'] !== undefined) return false;
  const managers = object.metadata['managedFields'];
  const isOwn = (entry: unknown) => isObject(entry) && entry['operation'] === 'Apply' && entry['manager'] === fieldManager;
  return hasLastApplied(object) || (Array.isArray(managers) && managers.some(isOwn));
}

interface Pruned {
  readonly resource: ApiResource;
  readonly object: ApiObject;
  readonly options: PruneOptions;
  readonly report: (result: Result) => void;
}

async function remove(session: Session, { resource, object, options, report }: Pruned): Promise<void> {
  const { name = '', namespace, uid = '' } = object.metadata;
  const { dryRun } = options;
  try {
    const isDryRun = dryRun === 'server';
    if (dryRun !== 'client') await deleteObject(session, { resource, namespace, name }, { propagationPolicy: 'Background', isDryRun, uid });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  report({ resource, name, outcome: 'pruned', object });
}
