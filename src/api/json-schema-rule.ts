/** Whether what a role says of its input and output is a JSON Schema. Pure; the schemas are looked at and never run. */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FieldProblem } from '#lib/errors.ts';
import { formatPath, isObject, type JsonObject } from '#lib/json.ts';

type Judge = Pick<Ajv, 'validateSchema' | 'errors'>;

const OPTIONS = { strict: false, logger: false } as const;

let judges: { readonly draft7: Judge; readonly draft2020: Judge } | undefined;

/** Made when the first schema comes along: most teams have none. */
function judgesNow() {
  judges ??= { draft7: new Ajv(OPTIONS), draft2020: new Ajv2020(OPTIONS) };
  return judges;
}

const FIELDS = ['inputSchema', 'outputSchema'] as const;

/** `at`: where the role stands in its document. What was stored before was looked at then. */
export function jsonSchemaProblems(role: object, old: object | undefined, at: readonly (string | number)[]): FieldProblem[] {
  const [given, before] = [role as JsonObject, old as JsonObject | undefined];
  return FIELDS.flatMap((field) => {
    const schema = given[field];
    if (!isObject(schema) || schema === before?.[field]) return [];
    const problem = schemaProblem(schema);
    if (problem === undefined) return [];
    const segments = [...at, field];
    return [
      { path: formatPath(segments), segments, kind: 'Invalid' as const, message: `Invalid value: "object": not a JSON Schema: ${problem}` },
    ];
  });
}

/** Without `$schema` it may be of either generation. */
function schemaProblem(schema: JsonObject): string | undefined {
  const { draft7, draft2020 } = judgesNow();
  const version = schema['$schema'];
  if (version !== undefined && typeof version !== 'string') return '$schema must be text';
  if (version === undefined) return problemBy(draft2020, schema) && problemBy(draft7, schema);
  if (/\/draft-0[67]\/schema#?$/.test(version)) return problemBy(draft7, { ...schema, $schema: undefined });
  if (/\/draft\/20(19-09|20-12)\/schema#?$/.test(version)) return problemBy(draft2020, { ...schema, $schema: undefined });
  return `$schema ${JSON.stringify(version)} is not known; draft-06, draft-07, 2019-09 and 2020-12 are, or leave it out`;
}

function problemBy(judge: Judge, { $schema: _version, ...schema }: JsonObject): string | undefined {
  if (judge.validateSchema(schema) === true) return undefined;
  const error = (judge.errors ?? []).find(({ keyword }) => keyword !== 'anyOf' && keyword !== 'allOf') ?? judge.errors?.[0];
  const place = error?.instancePath ? `${error.instancePath.slice(1).replaceAll('/', '.')} ` : '';
  const allowed = (error?.params as { allowedValues?: readonly unknown[] } | undefined)?.allowedValues;
  return `${place}${error?.message ?? 'is wrong'}${allowed ? `: ${allowed.join(', ')}` : ''}`;
}
