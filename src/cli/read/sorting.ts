/** `--sort-by`: objects, or whatever carries them, in the order of one of their fields. */
import { InvalidError } from '#lib/errors.ts';
import { findAll, parseJsonPath } from '#lib/jsonpath.ts';
import { parseGiven } from '../print/parse-path.ts';
import { compareValues } from '../print/sort.ts';

export function sortBy<T>(items: readonly T[], path: string, objectOf: (item: T) => unknown): readonly T[] {
  const template = parseGiven(parseJsonPath, path);
  const keyed = items.map((item) => ({ item, key: findAll(template, objectOf(item), { allowMissingKeys: true }).flat()[0] }));
  if (keyed.length > 0 && keyed.every(({ key }) => key === undefined)) {
    throw new InvalidError(`couldn't find any field with path "${path.includes('{') ? path : `{${path}}`}" in the list of objects`);
  }
  return keyed.sort((a, b) => compareValues(a.key, b.key)).map(({ item }) => item);
}
