/** `workspace_file_edit`: one replacement in a text. */
import { count, described, object } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import { boundedText, filePath } from '../workspaces/fields.ts';
import { FILE_HINTS } from '../workspaces/hints.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

/** Both must fit into one frame, and JSON may need six bytes for one. */
const MAX_BYTES = 262_144;
const instead = 'use workspace_file_write';

const input = object(
  {
    ...targetFields,
    path: filePath,
    old_text: described(
      boundedText({ min: 1, maxBytes: MAX_BYTES, instead }),
      'What to replace, exactly as it stands in the file, with spaces and ends of lines. Long enough to mean only one place.',
    ),
    new_text: described(boundedText({ maxBytes: MAX_BYTES, instead }), 'What to put there. Empty: remove it.'),
  },
  targetOptions,
);

export const workspaceFileEdit = defineTool({
  name: 'workspace_file_edit',
  title: 'Edit a file',
  description:
    'Replaces the first exact match of old_text in a UTF-8 file of the workspace of an agent; permissions stay. The answer says how many ' +
    'matches there were: with more than one, look with workspace_file_read whether the first was the one that was meant.',
  input,
  output: object({ matches: described(count, 'Before the edit; the first of them was replaced.') }),
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  resource: agentResource,
  async run(asked, call) {
    const workspace = await findWorkspace(asked, call);
    const edit = { path: asked.path, oldText: asked.old_text, newText: asked.new_text };
    return withHint(call.workspaces.editFile(workspace, edit, call.signal), {
      ...FILE_HINTS,
      NotFound: 'see how it stands in the file with workspace_file_read, or what there is with workspace_file_list',
    });
  },
});
