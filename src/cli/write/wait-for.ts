/** What `wait --for` waits for: read from the flag, then asked of every state of an object. */
import { hasCondition } from '#client/has-condition.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { findAll } from '#lib/jsonpath/evaluate.ts';
import { parseJsonPath } from '#lib/jsonpath/parse.ts';
import { printValue } from '#lib/jsonpath/print.ts';
import { parseGiven } from '../print/parse-path.ts';
import { UsageError } from '../usage-error.ts';

export interface WaitFor {
  readonly kind: 'delete' | 'create' | 'state';
  /** `uid` is that of the object at the beginning: another one of the same name does not count as it. */
  isMet(object: ApiObject | undefined, uid?: string): boolean;
}

export function parseFor(text: string): WaitFor {
  const lower = text.toLowerCase();
  if (lower === 'delete') {
    return { kind: 'delete', isMet: (object, uid) => object === undefined || (uid !== undefined && object.metadata.uid !== uid) };
  }
  if (lower === 'create') return { kind: 'create', isMet: (object) => object !== undefined };
  if (text.startsWith('condition=')) return forCondition(text.slice('condition='.length));
  if (text.startsWith('phase=')) return forPath('{.status.phase}', text.slice('phase='.length));
  if (text.startsWith('jsonpath=')) return forJsonPath(text.slice('jsonpath='.length));
  throw new UsageError(`unrecognized condition: ${JSON.stringify(text)}`, {
    hint: `expected condition=NAME[=VALUE], jsonpath='{.path}'[=VALUE], phase=VALUE, create or delete`,
  });
}

function forCondition(text: string): WaitFor {
  const at = text.indexOf('=');
  const type = (at === -1 ? text : text.slice(0, at)).toLowerCase();
  const wanted = (at === -1 ? 'true' : text.slice(at + 1)).toLowerCase();
  return { kind: 'state', isMet: (object) => object !== undefined && hasCondition(object, type, wanted) };
}

/** `{.status.phase}=Ready`; without a value, anything there will do. */
function forJsonPath(text: string): WaitFor {
  const match = /^(\{.*\}|[^{}=]+)(?:=(.*))?$/s.exec(text);
  if (!match?.[1] || match[2] === '')
    throw new UsageError(
      `jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or --for=jsonpath='{.status.readyReplicas}'`,
    );
  return forPath(relaxed(match[1]), match[2] === undefined ? undefined : unquoted(match[2]));
}

/** kubectl takes `.status.phase` and `status.phase` for `{.status.phase}`. */
function relaxed(path: string): string {
  if (path.startsWith('{')) return path;
  return `{${path.startsWith('.') ? '' : '.'}${path}}`;
}

function unquoted(value: string): string {
  return /^'.*'$|^".*"$/s.test(value) ? value.slice(1, -1) : value;
}

function forPath(path: string, wanted: string | undefined): WaitFor {
  const template = parseGiven(parseJsonPath, path);
  return {
    kind: 'state',
    isMet(object) {
      if (object === undefined) return false;
      const found = findAll(template, object, { allowMissingKeys: true }).flat();
      if (found.length > 1) throw new UsageError('given jsonpath expression matches more than one value');
      const [value] = found;
      if (found.length === 0 || value === undefined) return false;
      if (typeof value === 'object' && value !== null && wanted !== undefined)
        throw new UsageError('jsonpath leads to a nested object or list which is not supported');
      return wanted === undefined || printValue(value) === wanted.trim();
    },
  };
}
