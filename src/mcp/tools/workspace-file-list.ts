/** `workspace_file_list`: what is in a folder. */
import { count, described, integer, list, object, oneOf, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import { pathText } from '../workspaces/fields.ts';
import { FILE_HINTS } from '../workspaces/hints.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const USUAL_ENTRIES = 1000;

const input = object(targetFields, {
  ...targetOptions,
  path: described(pathText, 'Folder below the root of the workspace, which is the default; /workspace/... means the same.'),
  offset: described(count, 'How many entries to skip. Default 0.'),
  limit: described(integer({ min: 1, max: 10_000 }), `How many entries. Default ${USUAL_ENTRIES}.`),
});

const entry = object({
  name: text,
  kind: described(oneOf('file', 'directory', 'link', 'other'), 'A link is not followed.'),
  size: described(count, 'In bytes.'),
  permissions: described(text, 'Octal, such as 644.'),
  modified: text,
});

export const workspaceFileList = defineTool({
  name: 'workspace_file_list',
  title: 'List a folder',
  description:
    'Lists a folder in the workspace of an agent, sorted by name, without what is in its folders: call again for those, or use ' +
    'workspace_exec with find. Read a file with workspace_file_read.',
  input,
  output: object(
    { entries: list(entry), total: described(count, 'Entries of the whole folder.') },
    { next_offset: described(count, 'There is more: give it as offset.') },
  ),
  category: 'default',
  isReadOnly: true,
  needsAdmin: true,
  quotesOthers: true,
  resource: agentResource,
  async run(asked, call) {
    const { path = '.', offset = 0, limit = USUAL_ENTRIES } = asked;
    const workspace = await findWorkspace(asked, call);
    const files = await withHint(call.workspaces.listFiles(workspace, path, call.signal), {
      ...FILE_HINTS,
      TooLarge: 'there are too many entries for one answer: use workspace_exec with ls or find',
    });
    const entries = files.slice(offset, offset + limit);
    const next = offset + entries.length;
    return { entries, total: files.length, ...(next < files.length && { next_offset: next }) };
  },
});
