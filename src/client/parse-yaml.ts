/** The YAML reader behind a file of its own, so that only those who read YAML load it. */
import { parse } from 'yaml';

export function parseYaml(text: string): unknown {
  return parse(text, { merge: true });
}
