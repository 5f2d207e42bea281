/** What is known of one manifest file: what it says now, and what it said when it was last right. Pure. */
import { createHash } from 'node:crypto';
import { type Document, type FileContent, readDocuments } from './documents.ts';
import type { ReadText } from './read-text.ts';
import type { TreeFile } from './tree.ts';

export interface KnownFile {
  readonly stamp: string;
  /** When this stamp was first met. */
  readonly sinceMs: number;
  /** Read so soon after it changed that a second change may have got the same stamp. */
  readonly isYoung: boolean;
  /** Probably still being written: what it said before is in force for so long. */
  readonly unfinishedForMs: number;
  readonly hash: string;
  readonly endsInNewline: boolean;
  readonly content: FileContent;
  /** What it declared when it was last right. */
  readonly documents: readonly Document[];
}

/** Times of files move in steps of the kernel's clock, some milliseconds. */
const YOUNG_MS = 100;
/** How long a text that may be half of a save has to stay as it is. A blank one is rarely meant, and costs the most when believed. */
const CUT_MS = 2_000;
const BLANK_MS = 10_000;
/** A file that changes while it is read is looked at again soon. */
const MOVING_MS = 100;
const NOTHING: FileContent = { documents: [], complaints: [], ids: [], isUnknown: true };

/** Nothing to read: the stamp is the one that was read, and time changes nothing about it. */
export function isUpToDate(known: KnownFile | undefined, { stamp }: TreeFile): known is KnownFile {
  return known?.stamp === stamp && !known.isYoung && known.unfinishedForMs === 0;
}

export function nextKnown(known: KnownFile | undefined, file: TreeFile, read: ReadText, nowMs: number): KnownFile {
  const sinceMs = known?.stamp === file.stamp ? known.sinceMs : nowMs;
  const base = {
    stamp: file.stamp,
    sinceMs,
    isYoung: nowMs - file.changedAtMs < YOUNG_MS,
    unfinishedForMs: 0,
    hash: known?.hash ?? '',
    endsInNewline: known?.endsInNewline ?? false,
    documents: known?.documents ?? [],
  };
  if ('isMoving' in read) return { ...base, unfinishedForMs: MOVING_MS, content: NOTHING };
  if ('why' in read) return { ...base, hash: '', content: { ...NOTHING, complaints: [{ line: 1, column: 1, message: read.why }] } };
  const unfinishedForMs = Math.max(0, sinceMs + patienceMs(read.text, known) - nowMs);
  if (unfinishedForMs > 0) return { ...base, unfinishedForMs, content: NOTHING };
  const hash = createHash('sha256').update(read.text).digest('hex');
  if (known && known.hash === hash && known.unfinishedForMs === 0) return { ...known, stamp: base.stamp, sinceMs, isYoung: base.isYoung };
  const content = readDocuments(read.text);
  const documents = content.complaints.length > 0 ? base.documents : content.documents;
  return { ...base, hash, endsInNewline: read.text.endsWith('\n'), content, documents };
}

/**
 * Many programs save by emptying the file and filling it again. Half of a manifest is often a manifest, of fewer objects or fewer
 * fields, so a text that stops within a line, where it did not before, has to stay so for a while to be believed.
 */
function patienceMs(text: string, known: KnownFile | undefined): number {
  if (text.trim() === '') return BLANK_MS;
  return known?.endsInNewline === true && !text.endsWith('\n') ? CUT_MS : 0;
}
