/** `--listen`: a host, a port, or both. Pure. */
import { UsageError } from './usage-error.ts';

export interface ListenAddress {
  readonly host: string;
  /** Absent: the one of last time, or any. */
  readonly port?: number;
}

const LOOPBACK = '127.0.0.1';

/** `127.0.0.1`, `127.0.0.1:7443`, `:7443`, `::1`, `[::1]:7443`, `localhost:0`. */
export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (/^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text)) return { host: text };
  const host = bracketed ?? plain;
  if (host === undefined || text === '' || Number(port ?? 0) > 65_535) {
    throw new UsageError(
      `--listen ${JSON.stringify(text)} is no address; expected for example 127.0.0.1, 127.0.0.1:7443, :7443 or [::1]:7443`,
    );
  }
  return { host: host === '' ? LOOPBACK : host, ...(port === undefined ? {} : { port: Number(port) }) };
}

/** Only programs of this machine can get there. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(?:::ffff:)?127(?:\.\d+){3}$/i.test(host);
}
