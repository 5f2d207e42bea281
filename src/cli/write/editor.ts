/** A text in the person's editor and back. The file stays until it is known that nobody needs it any more. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AgentisoError, messageOf } from '#lib/errors.ts';

export interface EditedFile {
  readonly path: string;
  /** Opens it with this text in it; resolves to what was saved. */
  edit(text: string): Promise<string>;
  discard(): void;
}

export function editedFile(editor: string, name: string): EditedFile {
  const path = join(mkdtempSync(join(tmpdir(), 'agentiso-edit-')), `${name}.yaml`);
  const discard = () => rmSync(dirname(path), { recursive: true, force: true });
  return {
    path,
    discard,
    async edit(text) {
      writeFileSync(path, text, { mode: 0o600 });
      try {
        await open(editor, path);
      } catch (error) {
        throw kept(path, text, error, discard);
      }
      return readFileSync(path, 'utf8');
    },
  };
}

/** An editor that failed may have saved something first. */
function kept(path: string, text: string, error: unknown, discard: () => void): unknown {
  if (existsSync(path) && readFileSync(path, 'utf8') !== text) {
    return new AgentisoError('IoError', messageOf(error), { cause: error, hint: `what was saved is in ${path}` });
  }
  discard();
  return error;
}

/** By the shell, because an editor may come with options: `code --wait`. */
function open(editor: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'editor', path], { stdio: 'inherit' });
    const failed = (why: string, cause?: unknown) =>
      reject(new AgentisoError('IoError', `there was a problem with the editor ${JSON.stringify(editor)}${why}`, { cause }));
    child.on('error', (error) => failed(`: ${error.message}`, error));
    child.on('close', (code) => (code === 0 ? resolve() : failed(code === null ? '' : `: it ended with ${code}`)));
  });
}
