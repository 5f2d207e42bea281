/** Text with the words of others in it, marked as such in the way that each format has for remarks. Pure. */
import type { KindObject } from '#api/meta.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import { headAndTail } from '#lib/text.ts';
import { QUOTED } from '#protocol/tool-surface.ts';

/** More than this no client shows to a model at once. */
const MOST_BYTES = 256 * 1_024;

/** Without the record of who set which field, which is longer than the object and tells a model nothing. */
export function yamlOf(object: KindObject): string {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return `# ${QUOTED}\n${emitYaml({ ...object, metadata })}`;
}

export function plainText(text: string): string {
  return `${QUOTED}\n\n${headAndTail(text, MOST_BYTES).text}`;
}
