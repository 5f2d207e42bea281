/** `vault_search`: lines of notes with some words in them. */
import { searchNotes } from '#client/vault.ts';
import { count, described, flag, integer, list, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { NOTE_HINTS } from '../work/note-fields.ts';
import { withHint } from '../work/with-hint.ts';

const input = object(
  {
    pattern: described(
      text,
      'Text in whatever case, at most 1024 characters; with is_regex a regular expression. May be empty beside tag.',
    ),
  },
  {
    is_regex: described(flag, 'pattern is a regular expression. Default false.'),
    path: described(text, 'Only in this folder or note.'),
    tag: described(text, 'Only notes with this tag in their frontmatter.'),
    limit: described(integer({ min: 1, max: 100 }), 'Most lines. Default 20.'),
  },
);
const output = object({
  hits: list(object({ path: text, line: count, text, context: list(text) })),
  is_cut: flag,
});

export const vaultSearch = defineTool({
  name: 'vault_search',
  title: 'Search the notes',
  description:
    'Finds lines in the notes of the vault, each with two lines around it. is_cut: there are more; narrow it with path or tag. vault_read gives a whole note.',
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  input,
  output,
  resource: () => 'vault',
  async run({ pattern, is_regex: regex, path, tag, limit }, call) {
    const { hits, isCut } = await withHint(searchNotes(call, { pattern, regex, path, tag, limit }), NOTE_HINTS);
    return { hits, is_cut: isCut };
  },
});
