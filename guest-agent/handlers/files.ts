/** fileRead, fileWrite, fileEdit, fileList, fileStat: nothing of them reaches out of the workspace. */
import { Buffer } from 'node:buffer';
import { addAbortSignal } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ControlHandlers, type ControlParams, MAX_FILE_BYTES } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { listDirectory, openFile, statFile } from '../files/read.ts';
import { appendFile, replaceFile } from '../files/write.ts';
import type { Guest } from '../guest.ts';

type FileHandlers = Pick<ControlHandlers, 'fileRead' | 'fileWrite' | 'fileEdit' | 'fileList' | 'fileStat'>;

export function fileHandlers({ root, syncFiles }: Guest): FileHandlers {
  const inTurn = turns();
  return {
    async fileRead({ path, offset = 0, limit }, { signal, down }) {
      const { handle, stats } = await openFile({ root, path });
      try {
        const bytes = Math.min(limit ?? Number.POSITIVE_INFINITY, Math.max(0, stats.size - offset));
        checkSize(path, bytes);
        if (bytes > 0) {
          const content = handle.createReadStream({ start: offset, end: offset + bytes - 1, autoClose: false });
          await pipeline(content, down.content, { signal, end: false });
        }
        return { size: stats.size };
      } finally {
        await handle.close();
      }
    },
    async fileWrite({ path, append = false, mode, makeParents = true }, { signal, up }) {
      const content = addAbortSignal(signal, up.content);
      const bytes = await (append ? appendFile : replaceFile)({ root, path }, content, { mode, makeParents });
      await syncFiles?.();
      return { bytes };
    },
    // One after the other: each must find what the one before has written.
    fileEdit: async (edit) => {
      const edited = await inTurn(() => editFile(root, edit));
      await syncFiles?.();
      return edited;
    },
    async fileList({ path }) {
      return { entries: await listDirectory({ root, path }) };
    },
    async fileStat({ path }) {
      return statFile({ root, path });
    },
  };
}

function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}

async function editFile(root: string, { path, oldText, newText }: ControlParams<'fileEdit'>): Promise<{ matches: number }> {
  if (oldText === '') throw new ProtocolError('Invalid', 'oldText must not be empty');
  const text = await readText(root, path);
  const matches = text.split(oldText).length - 1;
  const at = text.indexOf(oldText);
  if (at === -1) throw new ProtocolError('NotFound', `${path} does not contain the text to be replaced`);
  await replaceFile({ root, path }, [Buffer.from(text.slice(0, at) + newText + text.slice(at + oldText.length))]);
  return { matches };
}

async function readText(root: string, path: string): Promise<string> {
  const { handle, stats } = await openFile({ root, path });
  try {
    checkSize(path, stats.size);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await handle.readFile());
  } catch (error) {
    if (error instanceof TypeError) throw new ProtocolError('Invalid', `${path} is not UTF-8 text`, error);
    throw error;
  } finally {
    await handle.close();
  }
}

function checkSize(path: string, bytes: number): void {
  if (bytes > MAX_FILE_BYTES)
    throw new ProtocolError('TooLarge', `${path}: ${bytes} bytes are more than ${MAX_FILE_BYTES}, ask for a part of it`);
}
