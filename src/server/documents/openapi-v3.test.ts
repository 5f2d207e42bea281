import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { crds } from '#api/generated/schemas.ts';
import { isObject } from '#lib/json.ts';
import { resources } from '../resources.ts';
import { groupVersions } from './groups.ts';
import { openApiV3, openApiV3Document, openApiV3Index } from './openapi-v3.ts';
import { operationsOf } from './operations.ts';

const documents = groupVersions.map((version) => ({ version, document: openApiV3(version) }));
const versionNamed = (name: string) => groupVersions.find((version) => version.name === name) ?? expect.fail(name);
const ours = openApiV3(versionNamed('agentiso.dev/v1alpha1'));

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => (key === '$ref' && typeof member === 'string' ? [member] : referencesIn(member)));
}

interface Shown {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly 'x-kubernetes-group-version-kind': unknown;
}

function operationsIn(document: ReturnType<typeof openApiV3>, method: string): readonly Shown[] {
  const paths = Object.values(document.paths) as Readonly<Record<string, Shown | undefined>>[];
  return paths.flatMap((path) => path[method] ?? []);
}

describe('every OpenAPI v3 document', () => {
  it.each(documents)(
    'of $version.name refers only to schemas it has, and has none that nobody refers to or serves',
    ({ document, version }) => {
      const have = Object.keys(document.components.schemas);
      const referred = referencesIn(document).map((target) => target.replace('#/components/schemas/', ''));
      const operationModels = ['DeleteOptions', 'Patch', 'Status', 'Preconditions'].map(
        (name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`,
      );
      expect(referred.filter((name) => !have.includes(name))).toEqual([]);
      const isServed = (name: string) =>
        version.resources.some(({ kind, listKind }) => [kind, listKind].includes(name.split('.').at(-1) ?? ''));
      expect(have.filter((name) => !referred.includes(name) && !operationModels.includes(name) && !isServed(name))).toEqual([]);
    },
  );

  it.each(documents)('of $version.name lets clients find field validation and dry run at every PATCH', ({ document, version }) => {
    const patches = operationsIn(document, 'patch');
    const patchable = version.resources
      .flatMap((resource) => [resource, ...resource.subresources])
      .filter(({ verbs }) => verbs.includes('patch'));
    expect(patches).toHaveLength(patchable.length);
    for (const patch of patches) {
      expect(patch.parameters.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['dryRun', 'fieldManager', 'fieldValidation', 'force']),
      );
      expect(patch['x-kubernetes-group-version-kind']).toEqual({
        group: version.group,
        version: version.version,
        kind: expect.any(String),
      });
    }
  });

  it.each(documents)('of $version.name names the group, version and kind of each object schema in a list', ({ document, version }) => {
    for (const { kind } of version.resources) {
      const target = { group: version.group, version: version.version, kind };
      const matching = Object.values(document.components.schemas).filter((schema) =>
        JSON.stringify(schema['x-kubernetes-group-version-kind'])?.includes(
          JSON.stringify({ group: version.group, kind, version: version.version }),
        ),
      );
      expect(matching.map((schema) => schema['x-kubernetes-group-version-kind'])).toEqual([[target]]);
      expect(matching[0]?.properties?.['metadata']).toEqual({
        allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
        description: expect.stringMatching(/^Standard object's metadata/),
      });
    }
  });
});

describe('the documents together', () => {
  it('give each operation a name of its own', () => {
    const ids = [...operationsOf(groupVersions).values()].flat().map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids).toEqual(
      expect.arrayContaining([
        'listAgentisoDevV1alpha1TeamForAllNamespaces',
        'deleteAgentisoDevV1alpha1CollectionNamespacedTeam',
        'readAgentisoDevV1alpha1NamespacedTeamStatus',
        'listCoreV1Namespace',
        'createAuthorizationV1SelfSubjectAccessReview',
      ]),
    );
  });

  it('offer exactly the verbs that are served', () => {
    const verbs = new Map<string, Set<string>>();
    const verbOf = {
      list: 'list',
      post: 'create',
      deletecollection: 'deletecollection',
      get: 'get',
      put: 'update',
      delete: 'delete',
      patch: 'patch',
    };
    for (const { target, action } of [...operationsOf(groupVersions).values()].flat()) {
      const key = `${target.group}/${target.kind}`;
      verbs.set(key, (verbs.get(key) ?? new Set()).add(verbOf[action]));
    }
    for (const resource of resources) {
      const offered = [...(verbs.get(`${resource.group}/${resource.kind}`) ?? [])].sort();
      expect(offered).toEqual(resource.verbs.filter((verb) => verb !== 'watch').toSorted());
    }
  });
});

describe('the document of our own kinds', () => {
  it.each(crds.map((crd) => [crd.spec.names.kind, crd] as const))('repeats the schema of %s word by word', (kind, crd) => {
    const written = crd.spec.versions[0]?.schema.openAPIV3Schema;
    const shown = ours.components.schemas[`dev.agentiso.v1alpha1.${kind}`];
    expect(shown).toMatchObject({
      ...written,
      properties: { spec: written?.properties?.['spec'], status: written?.properties?.['status'] },
    });
  });

  it('has a list of each kind', () => {
    expect(ours.components.schemas['dev.agentiso.v1alpha1.TeamList']).toMatchObject({
      required: ['items'],
      properties: { items: { items: { $ref: '#/components/schemas/dev.agentiso.v1alpha1.Team' } } },
      'x-kubernetes-group-version-kind': [{ group: 'agentiso.dev', version: 'v1alpha1', kind: 'TeamList' }],
    });
  });

  it('takes strategic merge patches for core kinds only, whose Go types clients have', () => {
    const types = (document: ReturnType<typeof openApiV3>) =>
      new Set(operationsIn(document, 'patch').flatMap(({ requestBody }) => Object.keys(requestBody?.content ?? {})));
    const strategic = 'application/strategic-merge-patch+json';
    expect(types(ours).has(strategic)).toBe(false);
    expect(types(openApiV3(versionNamed('v1'))).has(strategic)).toBe(true);
  });

  it('has the paths of a custom resource', () => {
    const item = '/apis/agentiso.dev/v1alpha1/namespaces/{namespace}/teams/{name}';
    const methods = (path: string) => Object.keys(ours.paths[path] ?? {}).sort();
    expect(methods('/apis/agentiso.dev/v1alpha1/teams')).toEqual(['get', 'parameters']);
    expect(methods('/apis/agentiso.dev/v1alpha1/namespaces/{namespace}/teams')).toEqual(['delete', 'get', 'parameters', 'post']);
    expect(methods(item)).toEqual(['delete', 'get', 'parameters', 'patch', 'put']);
    expect(methods(`${item}/status`)).toEqual(['get', 'parameters', 'patch', 'put']);
  });
});

describe('recorded documents', () => {
  const plain = (value: unknown) => stringify(value, { aliasDuplicateObjects: false, lineWidth: 140 });

  it('show one whole document', async () => {
    const document = { ...openApiV3(versionNamed('coordination.k8s.io/v1')), info: {} };
    await expect(plain(document)).toMatchFileSnapshot('golden/openapi-v3-coordination.txt');
  });

  it('show every operation in short', async () => {
    const lines = [...operationsOf(groupVersions).values()].flat().map((operation) => {
      const { method, path, id, action, body, answer, codes } = operation;
      return `${method.toUpperCase()} ${path} ${id} ${action} ${body?.model ?? '-'} -> ${answer} ${codes.join(',')}\n`;
    });
    await expect(lines.join('')).toMatchFileSnapshot('golden/operations.txt');
  });
});

describe('the index', () => {
  it('names each document by its fingerprint', () => {
    const index = JSON.parse(openApiV3Index().body.toString()) as { paths: Record<string, { serverRelativeURL: string }> };
    expect(Object.keys(index.paths)).toEqual(groupVersions.map(({ path }) => path));
    for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
      expect(serverRelativeURL).toBe(`/openapi/v3/${path}?hash=${openApiV3Document(path)?.etag}`);
    }
  });

  it('knows no other document', () => {
    expect(openApiV3Document('apis/apps/v1')).toBeUndefined();
  });
});
