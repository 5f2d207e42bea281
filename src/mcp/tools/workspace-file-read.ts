/** `workspace_file_read`: a file of a workspace, or a part of it. */
import { AgentisoError } from '#lib/errors.ts';
import { count, described, integer, object, oneOf, type Parsed, text } from '#protocol/shape.ts';
import { defineTool, type ToolCall } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import type { WorkspaceReference } from '../workspace-io.ts';
import { filePath } from '../workspaces/fields.ts';
import { type FilePart, isText, MAX_PART_BYTES, partOfBytes, partOfText, USUAL_BYTES, USUAL_LINES } from '../workspaces/file-part.ts';
import { FILE_HINTS } from '../workspaces/hints.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const encoding = oneOf('utf-8', 'base64');

const input = object(
  { ...targetFields, path: filePath },
  {
    ...targetOptions,
    offset: described(count, 'How many lines to skip; bytes with base64. Default 0. Give next_offset of the last answer for the rest.'),
    limit: described(
      integer({ min: 1, max: MAX_PART_BYTES }),
      `How many lines (default ${USUAL_LINES}), or bytes with base64 (default ${USUAL_BYTES}).`,
    ),
    encoding: described(encoding, 'utf-8 gives lines of text, base64 any bytes. Default: utf-8 for what is text, base64 for the rest.'),
  },
);

type Asked = Pick<Parsed<typeof input>, 'path' | 'offset' | 'limit' | 'encoding'>;

export const workspaceFileRead = defineTool({
  name: 'workspace_file_read',
  title: 'Read a file',
  description:
    'Reads a file of the workspace of an agent: text by lines, anything else as base64. Long files come in parts: call again with ' +
    'next_offset. To change a part of a text use workspace_file_edit; to find a file workspace_file_list; to search many workspace_exec with grep.',
  input,
  output: object(
    { content: text, encoding, total: described(count, 'Lines of the whole file; bytes with base64.') },
    { next_offset: described(count, 'There is more: give it as offset.') },
  ),
  category: 'default',
  isReadOnly: true,
  needsAdmin: true,
  quotesOthers: true,
  resource: agentResource,
  async run(asked, call) {
    const workspace = await findWorkspace(asked, call);
    const { nextOffset, ...part } = await readPart(workspace, asked, call);
    return { ...part, ...(nextOffset !== undefined && { next_offset: nextOffset }) };
  },
});

async function readPart(workspace: WorkspaceReference, asked: Asked, { workspaces, signal }: ToolCall): Promise<FilePart> {
  const { path, offset = 0, limit } = asked;
  if (asked.encoding === 'base64') {
    const { content, size } = await withHint(
      workspaces.readFile(workspace, { path, offset, limit: limit ?? USUAL_BYTES }, signal),
      FILE_HINTS,
    );
    return partOfBytes(content, size, offset);
  }
  const { content, size } = await withHint(workspaces.readFile(workspace, { path }, signal), {
    ...FILE_HINTS,
    TooLarge: 'give encoding base64, where offset and limit count bytes, or use workspace_exec with sed or tail',
  });
  if (isText(content)) return partOfText(content, { offset, limit: limit ?? USUAL_LINES });
  if (asked.encoding === 'utf-8') throw notText(path);
  return partOfBytes(content.subarray(offset, offset + (limit ?? USUAL_BYTES)), size, offset);
}

function notText(path: string): AgentisoError {
  return new AgentisoError('Invalid', `${path} is not UTF-8 text`, { hint: 'give encoding base64' });
}
