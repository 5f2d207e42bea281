/** `vault_list`: the notes in a folder. */
import { listNotes } from '#client/vault.ts';
import { count, described, flag, list, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { NOTE_HINTS } from '../work/note-fields.ts';
import { withHint } from '../work/with-hint.ts';

const input = object(
  {},
  {
    path: described(text, 'The folder; the whole vault when absent.'),
    recursive: described(flag, 'Everything below it. Default false.'),
  },
);
const output = object({ entries: list(object({ path: text, size: count, modified: text })), is_cut: flag });

export const vaultList = defineTool({
  name: 'vault_list',
  title: 'List the notes',
  description:
    'Lists notes and folders (their paths end in /) of the vault, the Markdown files that people and agents share. At most 1000; is_cut says that there are more. vault_read gives a note, vault_search finds words.',
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  input,
  output,
  resource: () => 'vault',
  async run({ path = '', recursive = false }, call) {
    const { entries, isCut } = await withHint(listNotes(call, path, recursive), NOTE_HINTS);
    return { entries, is_cut: isCut };
  },
});
