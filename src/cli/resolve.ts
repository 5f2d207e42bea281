/** What `TYPE[,TYPE…] [NAME…]` and `TYPE/NAME…` mean, against what the server serves. */
import type { ApiResource, Discovery } from '#client/discovery.ts';
import { UsageError } from './usage-error.ts';

export interface Wanted {
  readonly resource: ApiResource;
  /** All of them when absent. */
  readonly name?: string;
}

const MIXED = `there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'agentiso get resource/<resource_name>' instead of 'agentiso get resource resource/<resource_name>'`;

export function resolveArguments(discovery: Discovery, args: readonly string[]): readonly Wanted[] {
  if (args.some((word) => word.includes('/'))) return args.map((word) => resolvePair(discovery, word));
  const [types = '', ...names] = args;
  const resources = unique(
    types
      .split(',')
      .filter((word) => word !== '')
      .flatMap((word) => discovery.findAll(word)),
  );
  if (names.length === 0) return resources.map((resource) => ({ resource }));
  return resources.flatMap((resource) => names.map((name) => ({ resource, name })));
}

function resolvePair(discovery: Discovery, word: string): Wanted {
  const [type = '', name = '', ...rest] = word.split('/');
  if (rest.length > 0) throw new UsageError(`arguments in resource/name form may not have more than one slash`);
  if (!word.includes('/')) throw new UsageError(MIXED);
  if (type === '' || name === '') throw new UsageError(`arguments in resource/name form must have a single resource and name`);
  return { resource: discovery.find(type), name };
}

function unique<T>(list: readonly T[]): T[] {
  return [...new Set(list)];
}
