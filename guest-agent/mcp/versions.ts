/** The versions of MCP that are spoken here: for a server of tools they differ in little more than batches. Pure. */

const NEWEST = '2025-11-25';
/** The last one with arrays of messages. */
const LAST_WITH_BATCHES = '2025-03-26';
const VERSIONS = ['2024-10-07', '2024-11-05', LAST_WITH_BATCHES, '2025-06-18', NEWEST];

export function isKnownVersion(version: string): boolean {
  return VERSIONS.includes(version);
}

/** The client's own if it is known, else the newest: a client that cannot speak that hangs up. */
export function negotiate(asked: unknown): string {
  return typeof asked === 'string' && isKnownVersion(asked) ? asked : NEWEST;
}

/** Versions are days. A client that names none is an old one. */
export function takesBatches(version: string | undefined): boolean {
  return version === undefined || version <= LAST_WITH_BATCHES;
}
