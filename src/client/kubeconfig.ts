/** Kubeconfig files: which clusters, users and contexts there are, merged as kubectl merges them. */
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { InvalidError, messageOf, NotFoundError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';

export interface KubeCluster {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
}

export interface KubeUser {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: unknown;
  readonly 'auth-provider'?: unknown;
}

export interface KubeContext {
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** Something with a name, and the file it came from: paths in it are relative to that. */
export interface Named<T> {
  readonly name: string;
  readonly value: T;
  readonly file: string;
}

export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string;
  readonly clusters: readonly Named<KubeCluster>[];
  readonly users: readonly Named<KubeUser>[];
  readonly contexts: readonly Named<KubeContext>[];
}

export interface KubeconfigPlaces {
  /** --kubeconfig: then nothing else counts. */
  readonly given?: string | undefined;
  /** $KUBECONFIG: several, the first to define something wins. */
  readonly fromEnvironment?: string | undefined;
  readonly userHome: string;
}

export function kubeconfigFiles({ given, fromEnvironment, userHome }: KubeconfigPlaces): readonly string[] {
  if (given !== undefined) return [given];
  const listed = (fromEnvironment ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? listed : [join(userHome, '.kube', 'config')];
}

/** A file that was asked for must exist; one that merely could be there need not. */
export async function readKubeconfig(places: KubeconfigPlaces): Promise<Kubeconfig> {
  const files = kubeconfigFiles(places);
  const documents: { file: string; value: JsonObject }[] = [];
  for (const file of files) {
    const value = await readOne(file, places.given !== undefined);
    if (value) documents.push({ file, value });
  }
  const merged = <T>(list: string, key: string) => dedupe(documents.flatMap(({ file, value }) => namedIn<T>(value[list], key, file)));
  return {
    files,
    currentContext:
      (documents.map(({ value }) => value['current-context']).find((name) => typeof name === 'string' && name !== '') as string) ?? '',
    clusters: merged<KubeCluster>('clusters', 'cluster'),
    users: merged<KubeUser>('users', 'user'),
    contexts: merged<KubeContext>('contexts', 'context'),
  };
}

export interface Selected {
  readonly context: Named<KubeContext>;
  readonly cluster: Named<KubeCluster>;
  readonly user: Named<KubeUser> | undefined;
}

export function selectContext(config: Kubeconfig, wanted: string | undefined): Selected {
  const name = wanted ?? config.currentContext;
  if (name === '') throw new NotFoundError('current-context is not set', { hint: 'name one with --context' });
  const context = findNamed(config.contexts, name, 'context');
  const cluster = findNamed(config.clusters, context.value.cluster, 'cluster');
  const { user } = context.value;
  return { context, cluster, user: user ? findNamed(config.users, user, 'user') : undefined };
}

export function findNamed<T>(list: readonly Named<T>[], name: string, what: string): Named<T> {
  const found = list.find((each) => each.name === name);
  if (found) return found;
  const meant = nearest(
    name,
    list.map((each) => each.name),
  );
  throw new NotFoundError(`no ${what} exists with the name: "${name}"${meant ? `; did you mean ${meant}?` : ''}`);
}

/** What stands in the file itself, or in another one it names. */
export function inlineOrFile({ value, file }: Named<JsonObject>, key: string): string | undefined {
  const data = value[`${key}-data`];
  if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const path = value[key];
  return typeof path === 'string' && path !== '' ? readText(relativeTo(file, path)) : undefined;
}

export function relativeTo(file: string, path: string): string {
  return path.startsWith('/') ? path : join(dirname(file), path);
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new NotFoundError(`unable to read ${path}: ${messageOf(error)}`, { cause: error });
  }
}

async function readOne(file: string, isRequired: boolean): Promise<JsonObject | undefined> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!isRequired && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new NotFoundError(`unable to read the kubeconfig: ${messageOf(error)}`, { cause: error });
  }
  const { parseYaml } = await import('./parse-yaml.ts');
  try {
    const value: unknown = parseYaml(text) ?? {};
    if (isObject(value)) return value;
  } catch (error) {
    throw new InvalidError(`error loading config file "${file}": ${messageOf(error)}`, [], { cause: error });
  }
  throw new InvalidError(`error loading config file "${file}": expected a mapping`);
}

function namedIn<T>(list: unknown, key: string, file: string): Named<T>[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map((each) => ({ name: String(each['name']), value: (each[key] ?? {}) as T, file }));
}

function dedupe<T>(list: readonly Named<T>[]): readonly Named<T>[] {
  return [...new Map([...list].reverse().map((each) => [each.name, each])).values()].reverse();
}
