/**
 * Replaced files that hold a person's text, or may soon: kept under the name of their object until the text is taken in, so that
 * a crash in between does not cost the edit.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectKey } from '#api/meta.ts';
import { checksumOf } from './state.ts';

export interface LeftEdit {
  readonly key: ObjectKey;
  readonly path: string;
  /** undefined when nobody wrote to the file. */
  readonly text: string | undefined;
}

const SEPARATOR = '~';

/** `checksum` is that of what we had written: it tells later whether somebody else wrote, too. */
export function heldPath(folder: string, { kind, namespace, name }: ObjectKey, checksum: number, sequence: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, [kind, namespace, name, checksum, sequence].join(SEPARATOR));
}

/** What a crash left. */
export function leftEdits(folder: string): LeftEdit[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder).map((file) => {
    const [kind = '', namespace = '', name = '', checksum] = file.split(SEPARATOR);
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    return { key: { kind, namespace, name }, path, text: checksumOf(text) === Number(checksum) ? undefined : text };
  });
}
