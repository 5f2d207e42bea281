/** Built-in kinds whose fields are not even of the right types, in the words of the library that reads them in Kubernetes. Pure. */
import { isObject, type JsonObject } from '#lib/json.ts';
import { goKind } from './metadata-types.ts';

/** The first thing wrong; undefined when all is well, or when the kind has no types but its schema. */
export function kindTypeProblem(object: JsonObject): string | undefined {
  switch (object['kind']) {
    case 'ConfigMap':
      return textsProblem(object['data'], 'ConfigMap.data') ?? bytesProblem(object['binaryData']);
    case 'Lease':
      return leaseProblem(object['spec']);
    default:
      return undefined;
  }
}

function textsProblem(value: unknown, field: string): string | undefined {
  if (!isObject(value)) return wrongType(value, 'object', { field, goType: 'map[string]string' });
  for (const text of Object.values(value)) {
    const problem = wrongType(text, 'string', { field, goType: 'string' });
    if (problem) return problem;
  }
  return undefined;
}

function bytesProblem(value: unknown): string | undefined {
  const problem = textsProblem(value, 'ConfigMap.binaryData');
  if (problem || !isObject(value)) return problem?.replace('map[string]string', 'map[string][]uint8');
  for (const text of Object.values(value)) {
    const place = typeof text === 'string' ? illegalBase64(text) : undefined;
    if (place !== undefined) return `illegal base64 data at input byte ${place}`;
  }
  return undefined;
}

/** Where it stops to be base64. Line breaks are passed over, and groups of four have to be full. */
function illegalBase64(text: string): number | undefined {
  const plain = text.replace(/[\r\n]/g, '');
  const stray = /[^A-Za-z0-9+/]/.exec(plain)?.index ?? plain.length;
  const rest = plain.slice(stray);
  const isPadded = rest === '' ? stray % 4 === 0 : (rest === '=' && stray % 4 === 3) || (rest === '==' && stray % 4 === 2);
  if (isPadded) return undefined;
  return rest === '' ? stray - (stray % 4) : stray;
}

const MICRO_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function leaseProblem(spec: unknown): string | undefined {
  if (!isObject(spec)) return wrongType(spec, 'object', { field: 'Lease.spec', goType: 'v1.LeaseSpec' });
  const problems = [
    ...['holderIdentity', 'strategy', 'preferredHolder'].map((field) =>
      wrongType(spec[field], 'string', { field: `LeaseSpec.spec.${field}`, goType: 'string' }),
    ),
    ...['leaseDurationSeconds', 'leaseTransitions'].map((field) =>
      wrongType(spec[field], 'number', { field: `LeaseSpec.spec.${field}`, goType: 'int32' }),
    ),
    ...['acquireTime', 'renewTime'].map((field) => timeProblem(spec[field])),
  ];
  return problems.find((problem) => problem !== undefined);
}

function timeProblem(value: unknown): string | undefined {
  if (value === undefined || value === null || (typeof value === 'string' && MICRO_TIME.test(value))) return undefined;
  if (typeof value !== 'string') return `json: cannot unmarshal ${goKind(value)} into Go value of type string`;
  return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
}

function wrongType(value: unknown, type: string, { field, goType }: { field: string; goType: string }): string | undefined {
  if (value === undefined || value === null || goKind(value) === type) return undefined;
  return `json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${goType}`;
}
