/**
 * Reading a journal back: every good record in order; a torn end is cut off, a bad line before a good one is reported and set aside. Of a
 * write of several lines that was never finished any part may be on disk: what is behind the first bad line of it is torn as well.
 */
import { open } from 'node:fs/promises';
import type { MailJournal } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { decodeRecord, isContinuation, type Line, type MailRecord, NEWLINE } from './record.ts';

export interface Replay {
  readonly damaged: readonly Line[];
  readonly tornBytes: number;
}

export async function replay(journal: MailJournal, ledger: Ledger): Promise<Replay> {
  const damaged: Line[] = [];
  /** From a bad line on, as long as it may be the torn end of the last write. */
  let suspicious: Found[] = [];
  let good = 0;
  const take = (found: readonly Found[]) => {
    for (const { record, line } of found) {
      if (record === undefined) damaged.push(line);
      else ledger.apply(record, line);
    }
    suspicious = [];
    good = endOf(found) ?? good;
  };
  for await (const found of linesOf(journal)) {
    const isOpen = found.record === undefined || (suspicious.length > 0 && isContinuation(found.text));
    if (isOpen) suspicious.push(found);
    else take([...suspicious, found]);
  }
  // Without room behind it the last write was finished: the file is as long as it was to be.
  if (endOf(suspicious) === journal.end) take(suspicious.slice(0, suspicious.findLastIndex(({ record }) => record !== undefined) + 1));
  return { damaged, tornBytes: await journal.endAt(good) };
}

function endOf(found: readonly Found[]): number | undefined {
  const line = found.at(-1)?.line;
  return line && line.offset + line.length;
}

interface Found {
  readonly text: Buffer;
  readonly record: MailRecord | undefined;
  readonly line: Line;
}

/** Whole lines only, without empty ones: such are room for what comes. */
async function* linesOf(journal: MailJournal): AsyncGenerator<Found> {
  let offset = 0;
  let begun: Buffer[] = [];
  for await (const chunk of journal.chunks(0, journal.end)) {
    let start = 0;
    while (start < chunk.length) {
      if (begun.length === 0 && chunk[start] === NEWLINE) {
        start += 1;
        offset += 1;
        continue;
      }
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      const text = Buffer.concat([...begun, chunk.subarray(start, end + 1)]);
      begun = [];
      yield { text, record: decodeRecord(text), line: { offset, length: text.length } };
      offset += text.length;
      start = end + 1;
    }
    if (start < chunk.length) begun.push(chunk.subarray(start));
  }
}

/** Keeps damaged lines for people to look at; they are durable there before they leave the journal. */
export async function setAside(journal: MailJournal, damaged: readonly Line[]): Promise<string> {
  const path = `${journal.path}.corrupt`;
  const file = await open(path, 'a', 0o600);
  try {
    for (const line of damaged) await file.write(journal.read(line));
    await file.sync();
  } finally {
    await file.close();
  }
  return path;
}
