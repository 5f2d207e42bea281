/** What `label` and `annotate` are asked to do: `key=value` sets, `key-` removes, and what comes before names the objects. */
import { UsageError } from '../usage-error.ts';

export type MetadataField = 'labels' | 'annotations';

export interface MetadataChange {
  readonly field: MetadataField;
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

const WORD = { labels: 'label', annotations: 'annotation' } as const;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function parseMetadataChange(args: readonly string[], field: MetadataField): { targets: string[]; change: MetadataChange } {
  const firstPair = args.findIndex(isPair);
  const targets = firstPair === -1 ? [...args] : args.slice(0, firstPair);
  const pairs = firstPair === -1 ? [] : args.slice(firstPair);
  const stray = pairs.find((argument) => !isPair(argument));
  if (stray !== undefined) throw invalid(`all resources must be specified before ${WORD[field]} changes: ${stray}`);
  return { targets, change: { field, ...parsePairs(pairs, field) } };
}

function isPair(argument: string): boolean {
  return (argument.includes('=') && !argument.startsWith('=')) || (argument.endsWith('-') && argument !== '-');
}

function parsePairs(pairs: readonly string[], field: MetadataField): { set: Record<string, string>; remove: string[] } {
  const set: Record<string, string> = {};
  const remove: string[] = [];
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at === -1) remove.push(pair.slice(0, -1));
    else set[pair.slice(0, at)] = pair.slice(at + 1);
  }
  for (const [key, value] of Object.entries(set)) checkPair(key, value, field);
  const both = remove.filter((key) => Object.hasOwn(set, key));
  if (both.length > 0 && field === 'labels') throw invalid('can not both modify and remove a label in the same command');
  if (both.length > 0) throw invalid(`can not both modify and remove the following annotation(s) in the same command: ${both.join(', ')}`);
  return { set, remove };
}

/** The server would say the same, but only after other objects had been changed. */
function checkPair(key: string, value: string, field: MetadataField): void {
  const [name = '', prefix, ...rest] = key.split('/').reverse();
  const isKey = rest.length === 0 && name.length <= 63 && NAME_PART.test(name) && (prefix === undefined || PREFIX.test(prefix));
  if (!isKey) {
    throw invalid(`${WORD[field]} key ${JSON.stringify(key)} is not valid`, {
      hint: "a key is up to 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit, after an optional DNS name and /",
    });
  }
  if (field === 'labels' && !(value.length <= 63 && LABEL_VALUE.test(value))) {
    throw invalid(
      `invalid label value: ${JSON.stringify(`${key}=${value}`)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    );
  }
}

/** The values a key has and may not lose: one line each, in kubectl's words. */
export function refusedOverwrites(current: Readonly<Record<string, string>>, { set }: MetadataChange): string[] {
  return Object.keys(set)
    .filter((key) => Object.hasOwn(current, key) && current[key] !== set[key])
    .map((key) => `'${key}' already has a value (${current[key]}), and --overwrite is false`);
}

export interface MetadataPatch {
  readonly metadata: { readonly [field in MetadataField]?: Readonly<Record<string, string | null>> } & {
    readonly resourceVersion?: string;
  };
}

/** The merge patch, or nothing when the object says all of it already. A version in it makes the server refuse when it has another one. */
export function metadataPatch(
  current: Readonly<Record<string, string>>,
  { field, set, remove }: MetadataChange,
  resourceVersion?: string,
): MetadataPatch | undefined {
  const changed = Object.entries(set).filter(([key, value]) => current[key] !== value);
  const gone = remove.filter((key) => Object.hasOwn(current, key)).map((key) => [key, null] as const);
  if (changed.length === 0 && gone.length === 0) return undefined;
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return { metadata: { ...version, [field]: Object.fromEntries([...changed, ...gone]) } };
}

function invalid(message: string, details: { hint?: string } = {}): UsageError {
  return new UsageError(message, details);
}
