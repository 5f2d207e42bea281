/** ajv's errors in the words Kubernetes uses, always with what would be accepted. */
import type { ErrorObject } from 'ajv';
import type { FieldProblem } from '#lib/errors.ts';
import { formatPath, valueAt } from '#lib/json.ts';

export function toProblem(error: ErrorObject, root: unknown): FieldProblem {
  const segments = toSegments(error.instancePath, root);
  const params = error.params as Record<string, unknown>;
  if (error.keyword === 'required') {
    const missing = [...segments, String(params['missingProperty'])];
    return { path: formatPath(missing), segments: missing, kind: 'Required', message: 'Required value' };
  }
  const path = formatPath(segments);
  return { path, segments, ...describe(error, params, { path, value: valueAt(root, segments) }) };
}

interface Where {
  readonly path: string;
  readonly value: unknown;
}

function describe(error: ErrorObject, params: Record<string, unknown>, { path, value }: Where): Pick<FieldProblem, 'kind' | 'message'> {
  const shown = show(value);
  switch (error.keyword) {
    case 'enum': {
      const allowed = (params['allowedValues'] as unknown[]).map((item) => JSON.stringify(item)).join(', ');
      return { kind: 'NotSupported', message: `Unsupported value: ${shown}: supported values: ${allowed}` };
    }
    case 'type':
      return {
        kind: 'TypeInvalid',
        message: `Invalid value: "${typeName(value)}": ${path} in body must be of type ${params['type']}: "${typeName(value)}"`,
      };
    case 'minimum':
      return { kind: 'Invalid', message: `Invalid value: ${shown}: ${path} in body should be greater than or equal to ${params['limit']}` };
    case 'maximum':
      return { kind: 'Invalid', message: `Invalid value: ${shown}: ${path} in body should be less than or equal to ${params['limit']}` };
    case 'pattern':
      return { kind: 'Invalid', message: `Invalid value: ${shown}: ${path} in body should match '${params['pattern']}'` };
    case 'maxLength':
      return { kind: 'TooLong', message: `Too long: may not be more than ${params['limit']} bytes` };
    case 'minLength':
      return { kind: 'Invalid', message: `Invalid value: ${shown}: ${path} in body should be at least ${params['limit']} chars long` };
    case 'maxItems':
      return { kind: 'TooMany', message: `Too many: ${(value as unknown[]).length}: must have at most ${params['limit']} items` };
    case 'minItems':
      return {
        kind: 'Invalid',
        message: `Invalid value: ${(value as unknown[]).length}: ${path} in body should have at least ${params['limit']} items`,
      };
    case 'maxProperties':
      return { kind: 'TooMany', message: `Too many: ${Object.keys(value as object).length}: must have at most ${params['limit']} items` };
    case 'format':
      return { kind: 'TypeInvalid', message: `Invalid value: ${shown}: ${path} in body must be of type ${params['format']}: ${shown}` };
    default:
      return { kind: 'Invalid', message: `Invalid value: ${shown}: ${path} in body ${error.message ?? 'is not valid'}` };
  }
}

/** `/spec/roles/0/a~1b` as path segments; a number only where there really is a list. */
function toSegments(pointer: string, root: unknown): (string | number)[] {
  const segments: (string | number)[] = [];
  for (const raw of pointer.split('/').slice(1)) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    segments.push(Array.isArray(valueAt(root, segments)) ? Number(key) : key);
  }
  return segments;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
