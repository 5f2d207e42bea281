/** `vault_write`: writes a note, or adds to one. */
import { writeNote } from '#client/vault.ts';
import { described, object, oneOf, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { NOTE_HINTS, notePath } from '../work/note-fields.ts';
import { withHint } from '../work/with-hint.ts';

const input = object(
  { path: notePath, content: described(text, 'The text, Markdown.') },
  {
    mode: described(
      oneOf('overwrite', 'append', 'prepend'),
      'overwrite (the default) replaces the note, append adds at the end, prepend at the beginning below the frontmatter.',
    ),
    if_version: described(text, 'Only if the note still has this version, from vault_read.'),
  },
);
const output = object({ path: text, version: text });

export const vaultWrite = defineTool({
  name: 'vault_write',
  title: 'Write a note',
  description:
    'Writes a note of the vault; folders are made. All agents can read what lies outside teams/, the agents of a team also teams/NAME. What is below tasks and cards of a team is generated and cannot be written.',
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  input,
  output,
  resource: () => 'vault',
  run: ({ path, content, mode, if_version: ifVersion }, call) => withHint(writeNote(call, path, { content, mode, ifVersion }), NOTE_HINTS),
});
