/** Reading a journal back: every good record in order; a torn end is cut off, a bad line before a good one is reported and set aside. */
import { open } from 'node:fs/promises';
import type { MailJournal } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { decodeRecord, type Line, NEWLINE } from './record.ts';

export interface Replay {
  readonly damaged: readonly Line[];
  readonly tornBytes: number;
}

export async function replay(journal: MailJournal, ledger: Ledger): Promise<Replay> {
  const damaged: Line[] = [];
  const suspicious: Line[] = [];
  let good = 0;
  for await (const { text, line } of linesOf(journal)) {
    const record = decodeRecord(text);
    if (record === undefined) {
      suspicious.push(line);
      continue;
    }
    // A bad line before a good one was not the torn end of the last write.
    damaged.push(...suspicious.splice(0));
    ledger.apply(record, line);
    good = line.offset + line.length;
  }
  const tornBytes = journal.end - good;
  await journal.cutAt(good);
  return { damaged, tornBytes };
}

/** Whole lines only. */
async function* linesOf(journal: MailJournal): AsyncGenerator<{ text: Buffer; line: Line }> {
  let offset = 0;
  let begun: Buffer[] = [];
  for await (const chunk of journal.chunks(0, journal.end)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const text = Buffer.concat([...begun, chunk.subarray(start, end + 1)]);
      begun = [];
      yield { text, line: { offset, length: text.length } };
      offset += text.length;
      start = end + 1;
    }
    begun.push(chunk.subarray(start));
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
