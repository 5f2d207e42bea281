/** What the tools of the vault are told, and what helps when it is refused. */
import { described, text } from '#protocol/shape.ts';

export const notePath = described(
  text,
  'Path of the note in the vault, such as guides/style.md or teams/sprint/notes/plan.md. Notes are Markdown files (.md).',
);

export const NOTE_HINTS = {
  NotFound: 'vault_list and vault_search show the notes there are',
  Conflict: 'somebody has changed it: vault_read it again and write on top of that',
} as const;
