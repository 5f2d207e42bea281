import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DocumentAnswer, documentFor, paths } from './serve.ts';

const clock = { now: () => new Date('2026-01-01T00:00:00Z') };
function get(url: string, headers: Record<string, string> = {}): DocumentAnswer | undefined {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  return documentFor(pathname, searchParams, headers, clock);
}
const found = (url: string, headers?: Record<string, string>) => get(url, headers) ?? expect.fail(`${url} is not answered`);
const json = (url: string, headers?: Record<string, string>) => JSON.parse(found(url, headers).body.toString());

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const V2BETA1 = V2.replace('v=v2', 'v=v2beta1');
const SWAGGER = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

describe('the paths of documents', () => {
  it.each<[path: string, word: string, value: unknown]>([
    ['/api', 'kind', 'APIVersions'],
    ['/apis', 'kind', 'APIGroupList'],
    ['/api/v1', 'groupVersion', 'v1'],
    ['/apis/agentiso.dev', 'name', 'agentiso.dev'],
    ['/apis/agentiso.dev/v1alpha1', 'groupVersion', 'agentiso.dev/v1alpha1'],
    ['/openapi/v2', 'swagger', '2.0'],
    ['/openapi/v3/api/v1', 'openapi', '3.0.0'],
    ['/openapi/v3/apis/agentiso.dev/v1alpha1', 'openapi', '3.0.0'],
    ['/version', 'major', '1'],
  ])('%s is answered with and without a slash at its end', (path, word, value) => {
    expect(found(path)).toMatchObject({ status: 200, headers: { 'Content-Type': 'application/json', Vary: 'Accept' } });
    expect(json(path)).toHaveProperty(word, value);
    const [plain, slashed] = [found(path), found(`${path}/?timeout=32s`)];
    expect(slashed.headers).toEqual(plain.headers);
    expect(slashed.body.equals(plain.body)).toBe(true);
  });

  it.each([
    '/',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/agentiso.dev/v1',
    '/api/v2',
    '/openapi',
    '/openapi/v3/apis',
    '/openapi/v3/apis/apps/v1?hash=A',
    '/api/v1/namespaces',
    '/apis/__proto__',
    '/api//',
  ])('%s is left to others', (path) => {
    expect(get(path)).toBeUndefined();
  });

  it('are all listed, and every listed one is answered', () => {
    expect(paths()).toEqual(expect.arrayContaining(['/api', '/api/v1', '/apis/agentiso.dev/v1alpha1', '/openapi/v3/api/v1', '/version']));
    expect(paths().map((path) => found(path).status)).toEqual(paths().map(() => 200));
    expect(paths()).toEqual(paths().sort());
  });

  it('say by which address the client came', () => {
    expect(json('/api', { host: 'box:1234' }).serverAddressByClientCIDRs).toEqual([{ clientCIDR: '0.0.0.0/0', serverAddress: 'box:1234' }]);
  });
});

describe('the form of discovery', () => {
  it.each<[what: string, accept: string | undefined, apiVersion: string | undefined]>([
    ['nothing', undefined, 'v1'],
    ['anything', '*/*', 'v1'],
    ['JSON', 'application/json', 'v1'],
    ['protobuf or JSON', 'application/vnd.kubernetes.protobuf, application/json', 'v1'],
    ['protobuf', 'application/vnd.kubernetes.protobuf', 'v1'],
    ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'v1'],
    ['version 2', V2, 'apidiscovery.k8s.io/v2'],
    ['version 2beta1', V2BETA1, 'apidiscovery.k8s.io/v2beta1'],
    ['what kubectl asks for', `${V2},${V2BETA1},application/json`, 'apidiscovery.k8s.io/v2'],
    ['the older version first', `${V2BETA1},${V2}`, 'apidiscovery.k8s.io/v2beta1'],
    ['the old form first', `application/json,${V2}`, 'v1'],
    ['an unknown version first', `${V2.replace('v=v2', 'v=v3')},${V2}`, 'apidiscovery.k8s.io/v2'],
    ['a Table first', `application/json;as=Table;g=meta.k8s.io;v=v1,${V2}`, 'apidiscovery.k8s.io/v2'],
    ['no peers', `${V2};profile=nopeer`, 'apidiscovery.k8s.io/v2'],
    ['a low quality', `${V2};q=0.1, application/json;q=0.9`, 'apidiscovery.k8s.io/v2'],
  ])('for who accepts %s', (_, accept, apiVersion) => {
    const answer = found('/apis', accept === undefined ? {} : { accept });
    expect(JSON.parse(answer.body.toString()).apiVersion).toBe(apiVersion);
    const version = apiVersion?.split('/')[1];
    expect(answer.headers['Content-Type']).toBe(version ? V2.replace('v=v2', `v=${version}`) : 'application/json');
  });

  it.each([
    ['/apis', 'application/yaml', 'kind: APIGroupList'],
    ['/api', 'application/yaml', 'kind: APIVersions'],
    ['/apis/agentiso.dev/v1alpha1', `${V2},application/yaml`, 'groupVersion: agentiso.dev/v1alpha1'],
  ])('%s is YAML for who accepts %s', (path, accept, line) => {
    const answer = found(path, { accept });
    expect(answer.headers['Content-Type']).toBe('application/yaml');
    expect(answer.body.toString().split('\n')).toContain(line);
  });

  it.each([
    ['/apis', 'text/html'],
    ['/apis', V2.replace('v=v2', 'v=v9')],
    ['/apis/agentiso.dev', V2],
    ['/apis/agentiso.dev/v1alpha1', 'application/json;as=Table;g=meta.k8s.io;v=v1'],
  ])('%s has none for who accepts only %s', (path, accept) => {
    expect(() => get(path, { accept })).toThrow('only the following media types are accepted: application/json, application/yaml');
  });

  it('does not depend on the order of the parameters', () => {
    const words = ['g=apidiscovery.k8s.io', 'v=v2', 'as=APIGroupDiscoveryList', 'q=0.9', 'profile=nopeer'];
    fc.assert(
      fc.property(fc.shuffledSubarray(words, { minLength: words.length }), fc.constantFrom(';', '; ', ' ;'), (order, separator) => {
        expect(json('/api', { accept: ['application/json', ...order].join(separator) }).kind).toBe('APIGroupDiscoveryList');
      }),
    );
  });
});

describe('the form of Swagger', () => {
  const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
  it.each<[accept: string | undefined, type: string]>([
    [undefined, 'application/json'],
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    [SWAGGER, PROTOBUF],
    [PROTOBUF, PROTOBUF],
    [`${SWAGGER};q=1, application/json`, PROTOBUF],
    [`application/json, ${SWAGGER}`, 'application/json'],
  ])('for who accepts %s', (accept, type) => {
    const answer = found('/openapi/v2', accept === undefined ? {} : { accept });
    expect(answer.headers['Content-Type']).toBe(type);
    expect(answer.body.subarray(0, 5).toString('latin1')).toBe(type === PROTOBUF ? '\x0a\x032.0' : '{"swa');
  });
});

describe('a document in a form that it has not', () => {
  const V3 = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
  it.each([
    ['/openapi/v2', V3],
    ['/openapi/v2', 'text/plain'],
    ['/openapi/v3/apis/agentiso.dev/v1alpha1', V3],
    ['/openapi/v3/apis/agentiso.dev/v1alpha1', SWAGGER],
    ['/openapi/v3/apis/agentiso.dev/v1alpha1', 'application/yaml'],
  ])('is refused: %s as %s', (url, accept) => {
    expect(() => get(url, { accept })).toThrow('only the following media types are accepted: application/json');
    expect(found(url, { accept: `${accept},application/json` }).headers['Content-Type']).toBe('application/json');
  });
});

describe('fingerprints', () => {
  const etag = found('/apis', { accept: V2 }).headers['ETag'] ?? '';

  it('are quoted and differ by form', () => {
    expect(etag).toMatch(/^"[0-9A-F]{64}"$/);
    expect(found('/apis').headers['ETag']).not.toBe(etag);
  });

  it.each<[header: string, status: number]>([
    [etag, 304],
    [`W/${etag}`, 304],
    ['*', 304],
    [`"old", ${etag}`, 304],
    [`"old",W/"older"`, 200],
    [etag.slice(1, -1), 200],
    ['', 200],
  ])('If-None-Match %s gives %i', (header, status) => {
    const answer = found('/apis', { accept: V2, 'if-none-match': header });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ ETag: etag, Vary: 'Accept' });
    expect(answer.body.length > 0).toBe(status === 200);
  });
});

describe('OpenAPI documents asked for by fingerprint', () => {
  const path = '/openapi/v3/apis/agentiso.dev/v1alpha1';
  const current: string = json('/openapi/v3').paths['apis/agentiso.dev/v1alpha1'].serverRelativeURL;

  it('may be kept for a year', () => {
    const answer = found(current);
    expect(answer).toMatchObject({ status: 200, headers: { 'Cache-Control': 'public, immutable', Vary: 'Accept' } });
    expect(answer.headers['Expires']).toBe('Fri, 01 Jan 2027 00:00:00 GMT');
    expect(answer.body.equals(found(path).body)).toBe(true);
  });

  it('may not be kept when asked for without it', () => {
    expect(found(path).headers).not.toHaveProperty('Cache-Control');
    expect(found(`${path}?hash=`).headers).not.toHaveProperty('Cache-Control');
  });

  it('are not sent again', () => {
    expect(found(current, { 'if-none-match': found(current).headers['ETag'] ?? '' })).toMatchObject({ status: 304 });
  });

  it('have moved if the fingerprint is old, also behind a prefix', () => {
    const moved = found(`${path}?hash=OLD`);
    expect(moved.status).toBe(301);
    const { pathname, search } = new URL(moved.headers['Location'] ?? '', `http://127.0.0.1/t/secret${path}?hash=OLD`);
    expect(pathname + search).toBe(`/t/secret${current}`);
  });
});
