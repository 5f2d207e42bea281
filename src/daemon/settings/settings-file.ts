/** What `HOME/config.yaml` says: limits of the machine, and how fast each caller may ask. Pure. */
import { isMap, LineCounter, parseDocument } from 'yaml';
import type { Limits } from '#api/limits.ts';
import type { ConfiguredLimits } from '#config';
import { InvalidError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import { TOOL_CATEGORIES } from '#protocol/tool-surface.ts';
import type { Rate } from '#relay/rates.ts';

/** The largest number of each; the smallest is 1. */
export const LARGEST_LIMITS: Readonly<Record<keyof Limits, number>> = {
  ...{ maxAgents: 10_000, maxAgentsPerTeam: 1_000, maxNestingDepth: 10, maxMemoryMiB: 1_000_000_000 },
  ...{ maxConcurrentForks: 100, maxSavedMiB: 1_000_000_000, maxCacheMiB: 1_000_000_000 },
};
const RATE = { burst: 1_000_000, perMinute: 1_000_000 } as const;

/** Throws InvalidError, naming the key and what would be accepted. Keys that are not there have their defaults. */
export function parseSettings(text: string): ConfiguredLimits {
  const root = membersOf(readYaml(text), ['limits', 'rates'], '');
  const limits = numbersOf(root['limits'] ?? {}, LARGEST_LIMITS, 'limits');
  const rates = membersOf(root['rates'] ?? {}, TOOL_CATEGORIES, 'rates');
  return {
    ...limits,
    rates: Object.fromEntries(Object.entries(rates).map(([category, rate]) => [category, rateOf(rate, `rates.${category}`)])),
  };
}

function readYaml(text: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, lineCounter, logLevel: 'silent' });
  const [problem] = document.errors;
  if (problem) throw new InvalidError(`line ${lineCounter.linePos(problem.pos[0]).line}: ${problem.message}`);
  if (document.contents !== null && !isMap(document.contents))
    throw new InvalidError('the file is no map; it begins with limits: or rates:');
  return document.toJS({ maxAliasCount: 0 }) ?? {};
}

/** Half a rate would be a guess. */
function rateOf(given: unknown, path: string): Rate {
  const { burst, perMinute } = numbersOf(given, RATE, path);
  if (burst === undefined || perMinute === undefined) throw new InvalidError(`${path} needs both burst and perMinute`);
  return { burst, perMinute };
}

function numbersOf<K extends string>(given: unknown, largest: Readonly<Record<K, number>>, path: string): Partial<Record<K, number>> {
  const members = membersOf(given, Object.keys(largest), path);
  for (const [key, value] of Object.entries(members)) {
    const most = largest[key as K];
    const isRight = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
    if (!isRight) throw new InvalidError(`${path}.${key} is ${JSON.stringify(value)}; it must be a whole number from 1 to ${most}`);
  }
  return members as Partial<Record<K, number>>;
}

function membersOf(given: unknown, known: readonly string[], path: string): JsonObject {
  if (!isObject(given)) throw new InvalidError(`${path === '' ? 'the file' : path} must be a map with ${known.join(', ')}`);
  const stranger = Object.keys(given).find((key) => !known.includes(key));
  if (stranger === undefined) return given as JsonObject;
  const meant = nearest(stranger, known);
  const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
  throw new InvalidError(`unknown key ${path === '' ? '' : `${path}.`}${stranger}; ${hint}`);
}
