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

/** A journal of so many bytes is read in place: to have a thread do it would take longer. */
const IN_PLACE_BYTES = 256 * 1024;

export async function replay(journal: MailJournal, ledger: Ledger): Promise<Replay> {
  const reading = new Reading(ledger);
  if (journal.end <= IN_PLACE_BYTES) reading.take(journal.read({ offset: 0, length: journal.end }));
  else for await (const chunk of journal.chunks(0, journal.end)) reading.take(chunk);
  reading.finish(journal.end);
  return { damaged: reading.damaged, tornBytes: await journal.endAt(reading.good) };
}

interface Found {
  readonly isContinuation: boolean;
  readonly record: MailRecord | undefined;
  readonly line: Line;
}

class Reading {
  readonly damaged: Line[] = [];
  /** Behind the last record that counts. */
  good = 0;
  readonly #ledger: Ledger;
  /** From a bad line on, as long as it may be the torn end of the last write. */
  #suspicious: Found[] = [];
  /** Of the next line. */
  #offset = 0;
  /** What the last chunk had of it. */
  #begun: Buffer | undefined;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Whole lines only, without empty ones: such are room for what comes. */
  take(chunk: Buffer): void {
    const data = this.#begun ? Buffer.concat([this.#begun, chunk]) : chunk;
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, start)) {
      if (end === start) end = start + countOf(NEWLINE, data, start) - 1;
      else this.#takeLine(data.subarray(start, end + 1), { offset: this.#offset, length: end + 1 - start });
      this.#offset += end + 1 - start;
      start = end + 1;
    }
    this.#begun = start < data.length ? data.subarray(start) : undefined;
  }

  #takeLine(text: Buffer, line: Line): void {
    const found = { isContinuation: isContinuation(text), record: decodeRecord(text), line };
    const isOpen = found.record === undefined || (this.#suspicious.length > 0 && found.isContinuation);
    if (isOpen) this.#suspicious.push(found);
    else if (this.#suspicious.length === 0) this.#accept(found);
    else this.#acceptAll([...this.#suspicious, found]);
  }

  #acceptAll(found: readonly Found[]): void {
    for (const each of found) this.#accept(each);
    this.#suspicious = [];
  }

  #accept({ record, line }: Found): void {
    if (record === undefined) this.damaged.push(line);
    else this.#ledger.apply(record, line);
    this.good = line.offset + line.length;
  }

  /** Without room behind it the last write was finished: the file is as long as it was to be. */
  finish(journalEnd: number): void {
    const last = this.#suspicious.at(-1)?.line;
    if (last && last.offset + last.length === journalEnd) {
      this.#acceptAll(this.#suspicious.slice(0, this.#suspicious.findLastIndex(({ record }) => record !== undefined) + 1));
    }
  }
}

/** How many bytes in a row have this value. */
function countOf(value: number, data: Buffer, start: number): number {
  let end = start + 1;
  while (data[end] === value) end++;
  return end - start;
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
