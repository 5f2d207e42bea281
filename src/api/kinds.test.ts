import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InvalidError } from '#lib/errors.ts';
import { admission, kindNamed, kinds, knownKind } from './kinds.ts';
import { parseManifest } from './manifest.ts';
import type { KindObject } from './meta.ts';

const folder = join(import.meta.dirname, '..', '..', 'manifests');

const documents = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .flatMap(({ name: file }) =>
    parseManifest(readFileSync(join(folder, file), 'utf8')).documents.map(({ value }) => {
      const metadata = { namespace: 'default', ...(value['metadata'] as { name: string }) };
      return { file, name: metadata.name, object: { ...value, metadata } as unknown as KindObject };
    }),
  );

describe('manifests/', () => {
  it('has something of every kind that people write', () => {
    expect(new Set(documents.map(({ object }) => object.kind))).toEqual(new Set(['Team', 'Task', 'Merge']));
  });

  it.each(documents)('$file: $name is admitted, and admitting the result again changes nothing', ({ object }) => {
    const admitted = admission.admit(object, undefined);
    expect(admitted).toMatchObject(object);
    const again = admission.admit(admitted, undefined);
    expect(JSON.stringify(again)).toBe(JSON.stringify(admitted));
    expect(admission.admit({ ...admitted }, admitted)).toEqual(admitted);
  });
});

describe('admission', () => {
  it('fills in every default of a team, also inside lists and empty maps', () => {
    const metadata = { name: 'a', namespace: 'default' };
    const team = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata, spec: { roles: [{ name: 'worker' }] } };
    expect(admission.admit(team as unknown as KindObject, undefined).spec).toEqual({
      suspend: false,
      roles: [
        {
          name: 'worker',
          count: 1,
          backend: 'shell',
          image: 'base',
          resources: { vcpus: 2, memoryMiB: 512, diskGiB: 10 },
          restartPolicy: 'OnFailure',
        },
      ],
      budget: { maxAgents: 10, maxDepth: 3 },
      isolation: { driver: 'auto', minimum: 'process', requireLimits: false },
      network: { allowInternet: false, allowInterAgent: false },
      messaging: { enabled: true, broadcast: 'Lead' },
      subTeams: 'Any',
      terminationGracePeriodSeconds: 30,
    });
  });

  it('copies: neither the document nor the schema is in what it returns', () => {
    const metadata = { name: 'a', namespace: 'default', labels: { a: 'b' } };
    const spec = { roles: [{ name: 'worker', inputSchema: { deep: [1] } }] };
    const team = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata, spec } as unknown as KindObject;
    const first = admission.admit(team, undefined) as KindObject<{
      budget: { maxAgents: number };
      roles: { inputSchema: { deep: number[] } }[];
    }>;
    const before = JSON.stringify(first);
    metadata.labels.a = 'c';
    spec.roles[0]?.inputSchema.deep.push(2);
    expect(JSON.stringify(first)).toBe(before);
    if (first.spec) first.spec.budget.maxAgents = 99;
    const second = admission.admit({ ...team, metadata: { ...team.metadata } }, undefined) as typeof first;
    expect(second.spec?.budget.maxAgents).toBe(10);
  });
});

describe('the label that names a namespace', () => {
  const namespace = (labels?: Record<string, string>) =>
    ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', namespace: '', ...(labels ? { labels } : {}) } }) as KindObject;

  it.each([
    { given: undefined, want: { 'kubernetes.io/metadata.name': 'a' } },
    { given: { b: 'c' }, want: { b: 'c', 'kubernetes.io/metadata.name': 'a' } },
    { given: { 'kubernetes.io/metadata.name': 'b' }, want: { 'kubernetes.io/metadata.name': 'a' } },
  ])('is there whoever wrote it: $given', ({ given, want }) => {
    const admitted = admission.admit(namespace(given), undefined);
    expect(admitted.metadata.labels).toEqual(want);
    expect(admission.admit(namespace(given), admitted).metadata.labels).toEqual(want);
  });
});

describe('knownKind', () => {
  it.each([
    { name: 'Team', message: undefined },
    { name: 'Teem', message: 'kind: unknown kind "Teem"; did you mean Team?' },
    { name: 'team', message: 'kind: unknown kind "team"; did you mean Team?' },
    { name: 'Deployment', message: 'kind: unknown kind "Deployment"; expected one of Team, Agent, Task, Merge, Snapshot' },
    { name: undefined, message: 'kind: Required value; expected one of Team, Agent, Task, Merge, Snapshot' },
    { name: 7, message: 'kind: unknown kind 7; expected one of Team, Agent, Task, Merge, Snapshot' },
    { name: 'constructor', message: 'kind: unknown kind "constructor"; expected one of Team, Agent, Task, Merge, Snapshot' },
  ])('knows or explains $name', ({ name, message }) => {
    if (message === undefined) expect(knownKind(name).kind).toBe(name);
    else {
      expect(() => knownKind(name)).toThrow(message);
      expect(() => knownKind(name)).toThrow(InvalidError);
    }
  });

  it('gives no two kinds the same plural or short name', () => {
    const names = kinds.flatMap(({ kind, plural, shortNames }) => [...new Set([kind.toLowerCase(), plural, ...shortNames])]);
    expect(new Set(names).size).toBe(names.length);
    expect(kindNamed('Nothing')).toBeUndefined();
  });
});
