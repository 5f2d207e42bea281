/** Reads the text of a file that was found in a tree: the very file, whole, or not at all. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { MAX_DOCUMENT_BYTES } from '#api/manifest.ts';
import { messageOf } from '#lib/errors.ts';
import { stampOf, type TreeFile } from './tree.ts';

export type ReadText =
  | { readonly text: string }
  /** Changed while it was read, or since it was found. */
  | { readonly isMoving: true }
  | { readonly why: string };

/** A link put in its place is not followed, and a pipe put in its place does not block. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export async function readText({ path, stamp, size }: TreeFile): Promise<ReadText> {
  if (size > MAX_DOCUMENT_BYTES) return { why: `too large: ${size} bytes; at most ${MAX_DOCUMENT_BYTES} (1 MiB) are accepted` };
  try {
    const bytes = await readSame(path, stamp);
    return bytes ? decode(bytes) : { isMoving: true };
  } catch (error) {
    const isGone = ['ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');
    return isGone ? { isMoving: true } : { why: messageOf(error) };
  }
}

async function readSame(path: string, stamp: string): Promise<Buffer | undefined> {
  const file = await open(path, FLAGS);
  try {
    if (stampOf(await file.stat({ bigint: true })) !== stamp) return undefined;
    const bytes = await file.readFile();
    return stampOf(await file.stat({ bigint: true })) === stamp ? bytes : undefined;
  } finally {
    await file.close();
  }
}

function decode(bytes: Buffer): ReadText {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { why: 'not valid UTF-8' };
  }
}
