/**
 * Rewriting a journal without what nobody needs any more. The bulk is copied while the mailbox goes on; only for what was
 * appended meanwhile, and for the exchange of the files, does it wait.
 */
import { readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GroupWriter } from './group-writer.ts';
import { type MailJournal, NewFile } from './journal.ts';
import type { Entry, Ledger } from './ledger.ts';
import { encodeRecord, type Line, type MailRecord, toFirst } from './record.ts';

export interface Compaction {
  readonly journal: MailJournal;
  readonly ledger: Ledger;
  readonly writer: GroupWriter;
}

/** What the journal said at one moment. */
interface Snapshot {
  readonly head: readonly MailRecord[];
  readonly kept: readonly Entry[];
  readonly settlements: readonly MailRecord[];
  readonly gone: ReadonlySet<Entry>;
  readonly end: number;
}

export async function compact({ journal, ledger, writer }: Compaction, nowMs: number): Promise<void> {
  const snapshot = await writer.between(() => takeSnapshot(ledger, journal.end, nowMs));
  const fresh = await NewFile.create(newPath(journal.path));
  try {
    const moved = await writeSnapshot(journal, fresh, snapshot);
    await fresh.sync();
    await writer.between(async () => {
      const shift = fresh.bytes - snapshot.end;
      for await (const chunk of journal.chunks(snapshot.end, journal.end)) await fresh.write(chunk);
      await fresh.sync();
      await journal.replaceBy(fresh, () => {
        ledger.forget(snapshot.gone);
        for (const entry of ledger.entries) {
          entry.line = moved.get(entry) ?? { offset: entry.line.offset + shift, length: entry.line.length };
        }
      });
    });
  } finally {
    await fresh.close();
    await rm(fresh.path, { force: true });
  }
}

/** What a crash left of rewritings: the journals themselves are still the old ones. For the start, when none is under way. */
export function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory)) if (name.endsWith(newPath('.jsonl'))) rmSync(join(directory, name), { recursive: true });
}

function newPath(journalPath: string): string {
  return `${journalPath}.new`;
}

function takeSnapshot(ledger: Ledger, end: number, nowMs: number): Snapshot {
  const gone = new Set(ledger.expired(nowMs));
  const kept = ledger.entries.filter((entry) => !gone.has(entry));
  const settlements = settlementsOf(kept);
  // The dead that are kept are counted again when their record is read.
  const deadLetters = ledger.deadLetters - kept.filter(({ settled }) => settled?.as === 'dead').length;
  const head: MailRecord[] = [
    { is: 'mailbox', nextSeq: ledger.nextSeq, deadLetters },
    { is: 'delivered', seq: ledger.deliveredSeq },
  ];
  return { head, kept, settlements, gone, end };
}

function settlementsOf(entries: readonly Entry[]): MailRecord[] {
  const groups = new Map<string, { is: 'acked' | 'withdrawn' | 'dead'; at: string; ids: string[] }>();
  for (const { id, settled } of entries) {
    if (!settled) continue;
    const name = `${settled.as} ${settled.at}`;
    const group = groups.get(name) ?? { is: settled.as, at: settled.at, ids: [] };
    group.ids.push(id);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Messages are copied byte by byte: they are never changed, whatever they were written together with. Gives their new places. */
async function writeSnapshot(journal: MailJournal, fresh: NewFile, { head, kept, settlements }: Snapshot): Promise<Map<Entry, Line>> {
  const moved = new Map<Entry, Line>();
  for (const record of head) await fresh.write(encodeRecord(record));
  for (const entry of kept) {
    const line = toFirst(journal.read(entry.line));
    moved.set(entry, { offset: await fresh.write(line), length: line.length });
  }
  for (const record of settlements) await fresh.write(encodeRecord(record));
  return moved;
}
