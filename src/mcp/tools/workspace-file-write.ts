/** `workspace_file_write`: a whole file, or the next part of one. */
import { AgentisoError } from '#lib/errors.ts';
import { MAX_FILE_BYTES } from '#protocol/control.ts';
import { count, described, flag, object, oneOf, type Parser, parser } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import { boundedText, filePath, invalid } from '../workspaces/fields.ts';
import { FILE_HINTS } from '../workspaces/hints.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const MODE = /^0?[0-7]{3}$/;
/** With padding or without. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Of the largest file. */
const MAX_TEXT_BYTES = Math.ceil(MAX_FILE_BYTES / 3) * 4;

const mode: Parser<string> = parser(
  (value, what) => {
    if (typeof value !== 'string' || !MODE.test(value)) throw invalid(what, `${what} must be octal permissions, such as 644 or 0755`);
    return value;
  },
  () => ({ type: 'string', pattern: MODE.source }),
);

const input = object(
  {
    ...targetFields,
    path: filePath,
    content: described(boundedText({ maxBytes: MAX_TEXT_BYTES }), 'What the file shall hold.'),
  },
  {
    ...targetOptions,
    encoding: described(oneOf('utf-8', 'base64'), 'Of content. Default utf-8.'),
    mode: described(mode, 'Octal permissions, such as 755 for a script. Default: as they were, 644 for a new file.'),
    append: described(flag, 'Add to the end of the file: for files that are larger than one call can carry. Default false.'),
  },
);

export const workspaceFileWrite = defineTool({
  name: 'workspace_file_write',
  title: 'Write a file',
  description:
    'Writes a file in the workspace of an agent and makes folders on the way. What was there is replaced at once and whole. ' +
    'At most 32 MiB. To change a part of a text use workspace_file_edit.',
  input,
  output: object({ bytes: described(count, 'How many were written.') }),
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  resource: agentResource,
  async run(asked, call) {
    const content = asked.encoding === 'base64' ? fromBase64(asked.content) : Buffer.from(asked.content);
    if (content.length > MAX_FILE_BYTES) throw tooLarge(content.length);
    const workspace = await findWorkspace(asked, call);
    const options = {
      ...(asked.mode !== undefined && { mode: Number.parseInt(asked.mode, 8) }),
      ...(asked.append !== undefined && { append: asked.append }),
    };
    await withHint(call.workspaces.writeFile(workspace, { path: asked.path, content, ...options }, call.signal), FILE_HINTS);
    return { bytes: content.length };
  },
});

/** Buffer.from takes anything; what is no base64 would become some other file. */
function fromBase64(text: string): Buffer {
  const joined = text.replace(/\s+/g, '');
  if (!isBase64(joined)) throw invalid('content', 'content is not base64');
  return Buffer.from(joined, 'base64');
}

function isBase64(text: string): boolean {
  const digits = text.replace(/=+$/, '').length;
  const isPadded = text.length === digits || text.length % 4 === 0;
  return BASE64.test(text) && digits % 4 !== 1 && isPadded;
}

function tooLarge(bytes: number): AgentisoError {
  return new AgentisoError('TooLarge', `${bytes} bytes are more than the ${MAX_FILE_BYTES} that a file may have`);
}
