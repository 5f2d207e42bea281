/** A constant answer: its bytes, their type and their fingerprint. */
import { createHash } from 'node:crypto';
import { emitYaml } from '#lib/emit-yaml.ts';

export interface Document {
  readonly body: Buffer;
  readonly contentType: string;
  /** Without the quotes it has in a header. */
  readonly etag: string;
}

export function documentOf(body: Buffer, contentType: string): Document {
  return { body, contentType, etag: createHash('sha256').update(body).digest('hex').toUpperCase() };
}

export function jsonDocument(value: unknown, contentType = 'application/json'): Document {
  return documentOf(Buffer.from(JSON.stringify(value)), contentType);
}

/** The same in YAML; computed every time, as hardly anybody asks. */
export function yamlDocument({ body }: Document): Document {
  return documentOf(Buffer.from(emitYaml(JSON.parse(body.toString()))), 'application/yaml');
}

/** Computed at the first call, kept from then on: most processes never ask for most documents. */
export function lazy<T extends object>(compute: () => T): () => T {
  let kept: T | undefined;
  return () => {
    kept ??= compute();
    return kept;
  };
}

/** As `lazy`, for one value per key. */
export function lazyEach<T extends object>(compute: (key: string) => T): (key: string) => T {
  const kept = new Map<string, T>();
  return (key) => {
    const value = kept.get(key) ?? compute(key);
    kept.set(key, value);
    return value;
  };
}
