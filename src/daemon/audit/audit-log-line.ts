/** One call as a line of the log of calls. Pure. */
import type { AuditEntry } from '#lib/audit.ts';

/** Names come from whoever asks: what is longer is no name. */
const MAX_CHARS = 256;

/** `leftOut`: as many calls of the same kind before this one have no line of their own. */
export function auditLine(entry: AuditEntry, now: Date, leftOut = 0): string {
  const { who, mode, tool, resource, outcome, durationMs } = entry;
  const line = {
    time: now.toISOString(),
    who: cut(who),
    mode,
    tool: cut(tool),
    ...(resource !== undefined && { resource: cut(resource) }),
    outcome,
    duration_ms: Math.max(0, Math.round(durationMs)),
    ...(leftOut > 0 && { left_out: leftOut }),
  };
  return `${JSON.stringify(line)}\n`;
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`;
}

const QUIET_MS = 1_000;
const MAX_REMEMBERED = 10_000;

/**
 * Whoever is refused for its rate can ask again as fast as it likes. Written once a second, that cannot push the calls of others out of the
 * log. Answers how many were left out before this one; undefined: this one is left out.
 */
export function onceASecond(nowMs: () => number): (entry: Pick<AuditEntry, 'who' | 'tool' | 'outcome'>) => number | undefined {
  const refused = new Map<string, { readonly writtenMs: number; leftOut: number }>();
  return ({ who, tool, outcome }) => {
    const id = JSON.stringify([who, tool]);
    const known = refused.get(id);
    const now = nowMs();
    if (outcome !== 'RateLimited') refused.delete(id);
    else if (known && now - known.writtenMs < QUIET_MS) {
      known.leftOut += 1;
      return undefined;
    } else {
      if (refused.size >= MAX_REMEMBERED) refused.clear();
      refused.set(id, { writtenMs: now, leftOut: 0 });
    }
    return known?.leftOut ?? 0;
  };
}
