/**
 * The log of calls on disk, HOME/state/audit/calls.jsonl: a line per call, in the order in which calls ended. Nobody waits for it; a disk that
 * refuses is told of once, and what was kept meanwhile is written when it takes again.
 */
import { join } from 'node:path';
import type { AuditLog } from '#lib/audit.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import { createLinesFile } from './audit-log-file.ts';
import { auditLine, onceASecond } from './audit-log-line.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const KEPT = 5;
/** Calls come by the thousand, and a write costs as much as a call. */
const GATHER_MS = 200;
const GATHERED = 1_000;
const RETRY_MS = 1_000;
/** What waits for a disk that refuses; the oldest go first. */
const MAX_WAITING = 5_000;

export interface AuditLogOptions {
  readonly home: string;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly maxBytes?: number;
}

export interface OpenAuditLog extends AuditLog {
  /** What was recorded is on disk, or the disk refuses it. */
  flush(): Promise<void>;
  /** After the last call. */
  close(): Promise<void>;
}

export function openAuditLog({ home, log, clock = systemClock, maxBytes = MAX_BYTES }: AuditLogOptions): OpenAuditLog {
  const path = join(home, 'state', 'audit', 'calls.jsonl');
  const file = createLinesFile({ path, maxBytes, kept: KEPT });
  const leftOutBefore = onceASecond(() => clock.now().getTime());
  let waiting: string[] = [];
  let lost = 0;
  let isRefused = false;
  let isClosed = false;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const write = async (lines: readonly string[]) => {
    await file.append(lines.join(''));
    if (isRefused) log.info({ path, lost }, 'the log of calls is written again');
    isRefused = false;
    lost = 0;
  };
  const dropOldest = () => {
    const tooMany = waiting.length - MAX_WAITING;
    if (tooMany > 0) lost += waiting.splice(0, tooMany).length;
  };
  const refused = (lines: readonly string[], err: unknown) => {
    waiting = [...lines, ...waiting];
    dropOldest();
    if (!isRefused) log.warn({ path, err }, 'the log of calls cannot be written; calls go on');
    isRefused = true;
  };
  /** What came meanwhile waits for the next time, or a busy daemon would write for every call. */
  const writeWaiting = async () => {
    const lines = waiting;
    waiting = [];
    try {
      if (lines.length > 0) await write(lines);
    } catch (error) {
      refused(lines, error);
    }
  };
  const start = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeWaiting().finally(() => {
      writing = undefined;
      if (waiting.length > 0) startIn(isRefused ? RETRY_MS : GATHER_MS);
    });
    return writing;
  };
  const flush = async (): Promise<void> => {
    do await start();
    while (waiting.length > 0 && !isRefused);
  };
  const startIn = (ms: number) => {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => void start(), ms);
    timer.unref();
  };
  return {
    record(entry) {
      const leftOut = leftOutBefore(entry);
      if (leftOut === undefined) return;
      waiting.push(auditLine(entry, clock.now(), leftOut));
      dropOldest();
      if (waiting.length === GATHERED && !isRefused) void start();
      else startIn(isRefused ? RETRY_MS : GATHER_MS);
    },
    flush,
    async close() {
      isClosed = true;
      await flush();
    },
  };
}
