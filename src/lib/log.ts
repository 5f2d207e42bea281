/** The one logger: pino to stderr (stdout belongs to command output and MCP), secrets redacted by path. */
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

export interface LogOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** For programs, a JSON object a line; for people, the same in words. JSON when absent. */
  readonly format?: 'json' | 'text';
}

const SECRET_PATHS = ['token', 'authorization', 'password', 'secret', '*.token', '*.authorization', '*.password', '*.secret'];

export function createLogger({ level, format = 'json' }: LogOptions): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  const stream = format === 'json' ? destination : { write: (line: string) => void destination.write(readable(line)) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: SECRET_PATHS }, stream);
}

const LEVELS: Readonly<Record<number, string>> = { 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };

/** `2026-01-01T00:00:00.000Z INFO workspace started workspaceId="x"`: what happened first, what to search for after it. */
function readable(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const error = err as { message?: string; stack?: string } | undefined;
  const cause = error ? ` error=${JSON.stringify(error.message ?? '')}\n${error.stack ?? ''}` : '';
  return `${time} ${LEVELS[level as number] ?? level} ${msg ?? ''}${pairs.join('')}${cause}\n`;
}

export const silentLogger: Logger = pino({ level: 'silent' });
