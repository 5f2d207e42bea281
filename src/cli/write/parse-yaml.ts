/** Any YAML, JSON included, as plain data. A file of its own so that the parser is loaded only by what needs it. */
import { parse } from 'yaml';

export function parseYaml(text: string): unknown {
  return parse(text, { merge: true });
}
