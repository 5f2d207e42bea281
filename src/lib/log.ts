/** The one logger: pino to stderr (stdout belongs to command output and MCP), secrets redacted by path, and wherever they stand. */
import { type Logger as PinoLogger, pino } from 'pino';
import type { Redactor } from './redact.ts';

export type Logger = PinoLogger;

export interface LogOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** For programs, a JSON object a line; for people, the same in words. JSON when absent. */
  readonly format?: 'json' | 'text';
  /** Of every line. */
  readonly redactor?: Redactor;
}

const SECRET_PATHS = ['token', 'authorization', 'password', 'secret', '*.token', '*.authorization', '*.password', '*.secret'];

export function createLogger({ level, format = 'json', redactor }: LogOptions): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  const isRepeat = repeats();
  const put = (line: string) => void destination.write(redactor ? redactor.redact(line) : line);
  const write = (line: string) => {
    if (!isRepeat(line)) put(readable(line));
  };
  const stream = { write: format === 'json' ? put : write };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: SECRET_PATHS }, stream);
}

const LEVELS: Readonly<Record<number, string>> = { 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };

/** `2026-01-01T00:00:00.000Z INFO workspace started workspaceId="x"`: what happened first, what to search for after it. */
function readable(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const error = err as { message?: string; stack?: string; code?: unknown } | undefined;
  // Stacks are for bugs: what the system, or we ourselves, refuse has a code.
  const stack = typeof error?.code === 'string' ? '' : `\n${error?.stack ?? ''}`;
  const cause = error ? ` error=${JSON.stringify(error.message ?? '')}${stack}` : '';
  return `${time} ${LEVELS[level as number] ?? level} ${msg ?? ''}${pairs.join('')}${cause}\n`;
}

const WARN = 40;
const MAX_REMEMBERED = 1_000;

/** The same complaint about the same object again: a retry says nothing new within a minute. */
function repeats(everyMs = 60_000): (line: string) => boolean {
  const said = new Map<string, number>();
  return (line) => {
    const { time, level, msg, err, controller, namespace, name } = JSON.parse(line) as Record<string, unknown>;
    if (Number(level) < WARN || err === undefined) return false;
    const id = JSON.stringify([msg, (err as { message?: string }).message, controller, namespace, name]);
    const now = Date.parse(String(time));
    if (now - (said.get(id) ?? Number.NEGATIVE_INFINITY) < everyMs) return true;
    if (said.size > MAX_REMEMBERED) said.clear();
    said.set(id, now);
    return false;
  };
}

export const silentLogger: Logger = pino({ level: 'silent' });
