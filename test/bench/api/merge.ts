/**
 * The object the API benchmarks read and write: a Merge that has been made, so that nobody but the benchmark writes it: its controller
 * leaves it alone. The rest is as for every kind: schema and CEL rules, record of fields, YAML file, garbage collector. Pure.
 */

export const MERGES = '/apis/agentiso.dev/v1alpha1/namespaces/default/merges';

const STARTED = '2026-01-05T09:30:00Z';
const REVISION = /revision \d{8}/;
const VERSION = /"resourceVersion":"(\d+)"/;

export interface MergeDraft {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly finalizers: readonly string[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Stored with its status and its record of fields it is about 1.4 KB as JSON. */
export function makeMerge(index: number): MergeDraft {
  const id = String(index).padStart(6, '0');
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Merge',
    metadata: {
      name: `sprint-merge-${id}`,
      namespace: 'default',
      labels: { team: 'sprint' },
      // Its controller would write it otherwise, whenever it comes to it.
      finalizers: ['agentiso.dev/merge'],
    },
    spec: {
      team: 'sprint',
      sources: [{ agent: 'backend' }],
      target: { branch: 'main' },
      commitMessage: revisionText(0),
      verify: ['npm test', 'npm run lint'],
    },
  };
}

export function makeMergeStatus(): Readonly<Record<string, unknown>> {
  return {
    phase: 'Merged',
    conditions: [{ type: 'Ready', status: 'True', reason: 'Merged', message: 'as was asked for', lastTransitionTime: STARTED }],
  };
}

export function revisionText(revision: number): string {
  return `revision ${String(revision).padStart(8, '0')}`;
}

/** The object's JSON as it was answered, with another value of the same length: what a client that reads, changes and writes sends. */
export function withRevision(json: string, revision: number): string {
  if (!REVISION.test(json)) throw new Error('the object has no revision to change');
  return json.replace(REVISION, revisionText(revision));
}

export function versionOf(json: string): number {
  return Number(VERSION.exec(json)?.[1]);
}
