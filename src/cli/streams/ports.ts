/** The words that name forwarded ports: `8080`, `8080:80`, `:80`. Pure. */
import { UsageError } from '../usage-error.ts';

export interface PortPair {
  /** 0: any that is free. */
  readonly local: number;
  readonly remote: number;
}

export function portPair(word: string): PortPair {
  const [, local, remote] = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(word) ?? [];
  const pair = { local: Number(local === undefined ? remote : local === '' ? 0 : local), remote: Number(remote) };
  if (remote === undefined || !isPort(pair.remote) || pair.local > 65_535) {
    throw new UsageError(`${JSON.stringify(word)} names no ports; give PORT, LOCAL:REMOTE, or :REMOTE for any free local port`);
  }
  return pair;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
