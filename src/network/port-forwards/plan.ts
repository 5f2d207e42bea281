/** Which ports of the host may be forwarded, and which of the forwards that exist stay. Pure. */
import { ConflictError, InvalidError } from '#lib/errors.ts';

export interface WantedForward {
  readonly guestPort: number;
  /** null: any free one of the range that is kept for that. */
  readonly hostPort: number | null;
}

export interface Forward {
  readonly guestPort: number;
  readonly hostPort: number;
}

export const FIRST_CHOSEN_PORT = 30_000;
export const LAST_CHOSEN_PORT = 32_767;
/** The API's own. */
const ALWAYS_RESERVED = 7070;

export function isReserved(port: number, reserved: readonly number[]): boolean {
  return port === ALWAYS_RESERVED || reserved.includes(port);
}

/** Says what is wrong with the first forward that cannot be. */
export function refuseForwards(forwards: readonly WantedForward[], reserved: readonly number[]): void {
  const guestPorts = new Set<number>();
  const hostPorts = new Set<number>();
  for (const { guestPort, hostPort } of forwards) {
    refuseOutside('guestPort', guestPort, 1);
    refuseTwice('guestPort', guestPort, guestPorts);
    if (hostPort === null) continue;
    refuseOutside('hostPort', hostPort, 1024);
    if (isReserved(hostPort, reserved)) throw new InvalidError(`hostPort ${hostPort} is one of agentiso's own ports; choose another`);
    refuseTwice('hostPort', hostPort, hostPorts);
  }
}

function refuseOutside(field: string, port: number, lowest: number): void {
  if (Number.isInteger(port) && port >= lowest && port <= 65_535) return;
  throw new InvalidError(`${field} ${port}: a whole number from ${lowest} to 65535 is accepted`);
}

function refuseTwice(field: string, port: number, seen: Set<number>): void {
  if (seen.has(port)) throw new InvalidError(`${field} ${port} is forwarded twice`);
  seen.add(port);
}

/** A forward that exists is kept when it is still wanted as it is. */
export function isStillWanted({ guestPort, hostPort }: Forward, wanted: readonly WantedForward[]): boolean {
  return wanted.some((forward) => forward.guestPort === guestPort && (forward.hostPort === null || forward.hostPort === hostPort));
}

/** Host ports to try, in this order. */
export function* candidates(
  { guestPort, hostPort }: WantedForward,
  { previous, reserved }: { readonly previous: readonly Forward[]; readonly reserved: readonly number[] },
): Generator<number> {
  if (hostPort !== null) {
    yield hostPort;
    return;
  }
  const before = previous.find((forward) => forward.guestPort === guestPort)?.hostPort;
  if (before !== undefined && before >= 1024 && before <= 65_535 && !isReserved(before, reserved)) yield before;
  for (let port = FIRST_CHOSEN_PORT; port <= LAST_CHOSEN_PORT; port++) if (port !== before && !isReserved(port, reserved)) yield port;
}

export function portTaken({ guestPort, hostPort }: WantedForward, byAnotherAgent: boolean): ConflictError {
  if (hostPort === null) {
    return new ConflictError(`guestPort ${guestPort}: no host port from ${FIRST_CHOSEN_PORT} to ${LAST_CHOSEN_PORT} is free; name another`);
  }
  const who = byAnotherAgent ? 'is forwarded to another agent' : 'is in use by another program';
  return new ConflictError(`hostPort ${hostPort} ${who}; choose another, or leave it out`, { reason: 'PortTaken' });
}
