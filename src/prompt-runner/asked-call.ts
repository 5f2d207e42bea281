/** What an agent asks permission for, in the few words that rules speak of. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isFields } from './loose.ts';
import type { AskedCall } from './permission.ts';

const COMMAND_FIELDS = ['command', 'cmd', 'script'];
const PATH_FIELDS = ['file_path', 'filePath', 'path', 'abs_path', 'notebook_path', 'fileName'];

/** `toolCall` as it came; `known`: what an earlier update said of the same call. */
export function toAskedCall(toolCall: unknown, known: Readonly<Record<string, unknown>>, roots: readonly string[]): AskedCall {
  const call = { ...known, ...withoutNothing(isFields(toolCall) ? toolCall : {}) };
  const input = isFields(call['rawInput']) ? call['rawInput'] : {};
  const title = textOf(call['title']) || textOf(call['name']);
  const given = COMMAND_FIELDS.flatMap((name) => commandText(input[name]));
  // Gemini CLI has the command line in its title and nowhere else.
  const commands = given.length === 0 && call['kind'] === 'execute' && title !== '' ? [title] : given;
  const named = [...PATH_FIELDS.map((name) => input[name]), ...locationsOf(call['locations'])];
  const paths = named.filter((path): path is string => typeof path === 'string' && path !== '');
  const [workspace = '/'] = roots;
  return {
    title,
    kind: textOf(call['kind']) || (commands.length > 0 ? 'execute' : 'other'),
    commands,
    outside: paths.map((path) => realPath(resolve(workspace, path))).filter((path) => !roots.some((root) => isInside(root, path))),
  };
}

function withoutNothing(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

function commandText(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((word) => typeof word === 'string') ? [value.join(' ')] : [];
}

function locationsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.map((location) => (isFields(location) ? location['path'] : undefined)) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Of what is not there yet: where it would come to lie. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), path.slice(parent === sep ? 1 : parent.length + 1));
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root + sep);
}
