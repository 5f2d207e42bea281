/** get: one object, whole. */
import { anyFields, described, flag, object, text } from '#protocol/shape.ts';
import { kindField, namespaceField, objectName } from '../objects/fields.ts';
import { findKind } from '../objects/find-kind.ts';
import { plainObject } from '../objects/plain-object.ts';
import { shorten } from '../objects/shorten.ts';
import { getObject, toTarget } from '../objects/target.ts';
import { defineTool } from '../tool.ts';

const input = object(
  { kind: kindField, name: described(objectName, 'The full name, such as sprint-coder-1 for coder-1 of team sprint.') },
  { namespace: namespaceField },
);

const output = object({
  object: anyFields,
  version: described(text, 'To be given to watch as since_version: then nothing after this answer is missed.'),
  is_cut: described(flag, 'Long texts in it are cut where it says so; get_task_result and workspace_file_read give whole ones.'),
});

export const get = defineTool({
  name: 'get',
  title: 'Read one object',
  description:
    'Reads one object whole: what was asked for (spec) and what is so (status, with conditions and their reasons). Use list to find names, why to learn what it waits for, watch or wait_for to hear of changes.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  resource: ({ kind, name }) => `${kind.toLowerCase()}/${name}`,
  async run({ kind, ...named }, call) {
    const found = await getObject(call, toTarget(findKind(kind, 'get'), named));
    const { value, isCut } = shorten(plainObject(found));
    return { object: value, version: found.metadata.resourceVersion ?? '', is_cut: isCut };
  },
});
