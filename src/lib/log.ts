/** The one logger: pino to stderr (stdout belongs to command output and MCP), secrets redacted by path. */
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

export interface LogOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
}

const SECRET_PATHS = ['token', 'authorization', 'password', 'secret', '*.token', '*.authorization', '*.password', '*.secret'];

export function createLogger({ level }: LogOptions): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: SECRET_PATHS },
    pino.destination({ dest: 2, sync: true }),
  );
}

export const silentLogger: Logger = pino({ level: 'silent' });
