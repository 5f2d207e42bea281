/** Writes src/api/generated from crds/ (the schemas as data, a TypeScript type for each kind's spec and status), docs/cli.md and docs/mcp.md. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse } from 'yaml';
import type { CustomResourceDefinition, Schema } from '../src/api/schema.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'src/api/generated');
const banner = '// Generated from crds/ by `npm run generate`. Do not edit.\n';

const files = readdirSync(join(root, 'crds')).filter((name) => name.endsWith('.yaml'));
const order = ['Team', 'Agent', 'Task', 'Merge', 'Snapshot'];
const crds = files
  .map((name) => parse(readFileSync(join(root, 'crds', name), 'utf8')) as CustomResourceDefinition)
  .sort((a, b) => order.indexOf(a.spec.names.kind) - order.indexOf(b.spec.names.kind));

mkdirSync(target, { recursive: true });
for (const crd of crds) {
  const { kind, singular } = crd.spec.names;
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema;
  if (!schema) throw new Error(`${crd.metadata.name} has no schema`);
  const parts = ['spec', 'status'].map((part) => typesOf(`${kind}${part === 'spec' ? 'Spec' : 'Status'}`, schema.properties?.[part]));
  writeFileSync(join(target, `${singular}.ts`), `${banner}\n${(await Promise.all(parts)).join('\n')}`);
}
writeFileSync(
  join(target, 'schemas.ts'),
  `${banner}import type { CustomResourceDefinition } from '../schema.ts';\n\nexport const crds: readonly CustomResourceDefinition[] = ${JSON.stringify(crds, null, 2)};\n`,
);

execFileSync('npx', ['biome', 'format', '--write', target], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });

// Only now: the commands read what has just been written.
const { cliPage } = await import('./generate-cli.ts');
writeFileSync(join(root, 'docs/cli.md'), cliPage());
const { mcpPage } = await import('./generate-mcp.ts');
writeFileSync(join(root, 'docs/mcp.md'), mcpPage());

async function typesOf(name: string, schema: Schema | undefined): Promise<string> {
  if (!schema) throw new Error(`${name} has no schema`);
  return compile(toJsonSchema(schema) as JSONSchema, name, {
    bannerComment: '',
    additionalProperties: false,
    format: false,
    enableConstEnums: false,
  });
}

/** Types describe the object after admission: what has a default is there. */
function toJsonSchema(schema: Schema): Record<string, unknown> {
  const { default: _default, nullable, properties, items, additionalProperties, required = [], type, ...rest } = schema;
  const kept = Object.fromEntries(Object.entries(rest).filter(([keyword]) => ['description', 'enum', 'format'].includes(keyword)));
  const withDefaults = Object.entries(properties ?? {}).flatMap(([key, member]) => (member.default === undefined ? [] : [key]));
  return {
    ...kept,
    type: nullable ? [type, 'null'] : type,
    ...(schema['x-kubernetes-int-or-string'] ? { type: ['integer', 'string'] } : {}),
    ...(properties ? { properties: mapValues(properties, toJsonSchema), required: [...new Set([...required, ...withDefaults])] } : {}),
    ...(items ? { items: toJsonSchema(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: toJsonSchema(additionalProperties) } : {}),
    ...(schema['x-kubernetes-preserve-unknown-fields'] ? { additionalProperties: true } : {}),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
