import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type EditedFile, editedFile } from './editor.ts';

let file: EditedFile | undefined;
const open = (editor: string) => {
  file = editedFile(editor, 'x');
  return file;
};
afterEach(() => file?.discard());

describe('editedFile', () => {
  it('gives what was saved, and goes when it is told to', async () => {
    const opened = open('sed -i s/a/b/');
    expect([await opened.edit('a\n'), existsSync(opened.path)]).toEqual(['b\n', true]);
    opened.discard();
    expect(existsSync(dirname(opened.path))).toBe(false);
  });

  it('leaves nothing behind of an editor that failed without saving', async () => {
    const opened = open('false');
    await expect(opened.edit('a\n')).rejects.toThrow('there was a problem with the editor "false": it ended with 1');
    expect(existsSync(dirname(opened.path))).toBe(false);
  });

  it('keeps what an editor saved before it failed, and says where', async () => {
    const opened = open('sh -c \'echo precious > "$0"; exit 3\'');
    await expect(opened.edit('a\n')).rejects.toMatchObject({ hint: `what was saved is in ${opened.path}` });
    expect(readFileSync(opened.path, 'utf8')).toBe('precious\n');
  });
});
