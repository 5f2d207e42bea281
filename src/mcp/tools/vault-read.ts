/** `vault_read`: one note. */
import { readNote } from '#client/vault.ts';
import { anyFields, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { NOTE_HINTS, notePath } from '../work/note-fields.ts';
import { withHint } from '../work/with-hint.ts';

const input = object({ path: notePath });
const output = object({ path: text, content: text, version: text, frontmatter: anyFields });

export const vaultRead = defineTool({
  name: 'vault_read',
  title: 'Read a note',
  description:
    'Reads a note of the vault, the Markdown files that people and agents share. teams/NAME/tasks/INDEX.md is the board of a team. Give version back as if_version of vault_write, to change only what you have read.',
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  input,
  output,
  resource: () => 'vault',
  run: ({ path }, call) => withHint(readNote(call, path), NOTE_HINTS),
});
