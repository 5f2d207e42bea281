/** `vault_delete`: removes a note for good. */
import { removeNote } from '#client/vault.ts';
import { described, flag, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { NOTE_HINTS, notePath } from '../work/note-fields.ts';
import { withHint, wrongField } from '../work/with-hint.ts';

const input = object({ path: notePath, confirm: described(flag, 'true: it is meant to be gone for good.') });
const output = object({ path: text, deleted: flag });

export const vaultDelete = defineTool({
  name: 'vault_delete',
  title: 'Remove a note',
  description: 'Removes a note of the vault. There is no way back; vault_read it first if you may need it.',
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: true,
  input,
  output,
  resource: () => 'vault',
  async run({ path, confirm }, call) {
    if (!confirm) throw wrongField('confirm', `${path} would be gone for good; say confirm: true`);
    const removed = await withHint(removeNote(call, path), NOTE_HINTS);
    return { path: removed.path, deleted: true };
  },
});
