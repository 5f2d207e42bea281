/** `agentiso vault`: the notes that people and agents share, read and written by people. */
import { nearest } from '#lib/suggest.ts';
import { apiCommand } from '../api-command.ts';
import { UsageError } from '../usage-error.ts';
import { listNotes, printNote, removeNote, searchNotes, writeNote } from '../vault/actions.ts';

const ACTIONS = ['ls', 'cat', 'write', 'search', 'rm'];
const OTHER_WORDS: Readonly<Record<string, string>> = {
  list: 'ls',
  read: 'cat',
  get: 'cat',
  put: 'write',
  grep: 'search',
  find: 'search',
  remove: 'rm',
  delete: 'rm',
};

export const vaultCommand = apiCommand({
  name: 'vault',
  args: '<action> [path]',
  summary: 'the notes that people and agents share: ls, cat, write, search, rm',
  description:
    'Notes are Markdown files; a path is relative to the vault, for example guides/style.md or teams/sprint/notes/plan.md. write takes the text from standard input or from -f. search looks for text, whatever its case, or with --regex for a regular expression. What is below tasks and cards of a team is generated and cannot be written.',
  options: [
    { flags: '-r, --recursive', description: 'ls: everything below the folder' },
    { flags: '-f, --filename <file>', description: 'write: the file with the text; - for standard input', default: '-' },
    { flags: '--append', description: 'write: add the text at the end' },
    { flags: '--prepend', description: 'write: add the text at the beginning, below the frontmatter' },
    { flags: '--if-version <version>', description: 'write: only if the note still has this version' },
    { flags: '--regex', description: 'search: a regular expression instead of text' },
    { flags: '--in <path>', description: 'search: only in this folder or note' },
    { flags: '--tag <tag>', description: 'search: only notes with this tag in their frontmatter' },
    { flags: '--limit <n>', description: 'search: at most so many lines, 1 to 100', default: '20' },
    { flags: '-o, --output <format>', description: 'json', choices: ['json'] },
  ],
  async run([action = '', path, ...more], options, session) {
    if (more.length > 0) throw new UsageError(`one path at a time: agentiso vault ${action} ${path}`);
    switch (action) {
      case 'ls':
        return listNotes(path ?? '', options, session);
      case 'search':
        return searchNotes(path ?? '', options, session);
      case 'cat':
        return printNote(needed(action, path), options, session);
      case 'write':
        return writeNote(needed(action, path), options, session);
      case 'rm':
        return removeNote(needed(action, path), session);
      default:
        throw unknownAction(action);
    }
  },
});

function needed(action: string, path: string | undefined): string {
  if (path !== undefined && path !== '') return path;
  throw new UsageError(`which note? agentiso vault ${action} PATH`);
}

function unknownAction(action: string): UsageError {
  const meant = OTHER_WORDS[action] ?? nearest(action, ACTIONS);
  return new UsageError(`unknown action "${action}"; ${meant ? `did you mean ${meant}?` : `expected ${ACTIONS.join(', ')}`}`);
}
