/**
 * A machine for a thousand agents that has no processes: workspaces, guests and links live in this object, everything above them is the real
 * daemon. It outlives daemons, as a machine does: one that stops leaves its workspaces for the next.
 */
import type { WorkspaceSpec, WorkspaceState } from '#drivers/driver.ts';
import type { DriversHere } from '../../src/daemon/agents/isolation.ts';
import { type SimulatedWorkspaces, simulatedDriver } from './simulated-driver.ts';
import { type GuestRecord, SimulatedGuest } from './simulated-guest.ts';
import { simulatedNetwork } from './simulated-network.ts';
import { simulatedSessions } from './simulated-sessions.ts';

export interface SimulatedMachineOptions {
  /** How long a command of a task takes. */
  readonly taskMs?: (command: string) => number;
}

/** What another process needs to go on with the same machine. */
export interface MachineRecord {
  readonly guests: readonly GuestRecord[];
  readonly links: readonly number[];
}

const FIRST_PID = 1_000_000;

export class SimulatedMachine implements SimulatedWorkspaces {
  readonly #guests = new Map<string, SimulatedGuest>();
  readonly #links: Set<number>;
  readonly #taskMs: (command: string) => number;
  readonly #listeners = new Set<(id: string) => void>();
  #started = 0;

  constructor({ taskMs = () => 0 }: SimulatedMachineOptions = {}, record: MachineRecord = { guests: [], links: [] }) {
    this.#taskMs = taskMs;
    this.#links = new Set(record.links);
    for (const guest of record.guests) this.#guests.set(guest.id, new SimulatedGuest(guest, taskMs));
  }

  /** In place of what the daemon makes of the real machine. */
  get parts() {
    const sandbox = { mode: 'rootless', reason: '', limits: 'none', network: 'nftables' } as const;
    const here: DriversHere = { drivers: [simulatedDriver(this)], sandbox, close: async () => {} };
    return {
      createNetwork: async () => simulatedNetwork(this.#links),
      findDrivers: async () => here,
      createSessions: ({ desk }: Parameters<typeof simulatedSessions>[0]) =>
        simulatedSessions({ desk, guestOf: (id) => this.#guests.get(id) }),
      createEgress: () => ({
        listen: async () => {},
        update() {},
        close: async () => {},
        closeAll: async () => {},
        counters: () => undefined,
      }),
    };
  }

  /** Workspaces that were ever started here; those of the machine that this one was made from do not count. */
  get started(): number {
    return this.#started;
  }

  /** Guests that the daemon they are connected to has told where they are. */
  get configured(): number {
    return this.guests().filter(({ isConfigured }) => isConfigured).length;
  }

  guests(): readonly SimulatedGuest[] {
    return [...this.#guests.values()];
  }

  /** Every start of every attempt: one that is there twice ran twice. */
  starts(): string[] {
    return this.guests().flatMap(({ starts }) => [...starts]);
  }

  start({ id, incarnation }: WorkspaceSpec): WorkspaceState {
    const existing = this.#guests.get(id);
    if (existing) return toState(existing);
    this.#started += 1;
    const nothing = { cursor: 0, starts: [], results: [], running: [], revoked: [] };
    const guest = new SimulatedGuest({ id, incarnation, pid: FIRST_PID + this.#started, ...nothing }, this.#taskMs);
    this.#guests.set(id, guest);
    for (const listener of this.#listeners) listener(id);
    return toState(guest);
  }

  find(id: string): WorkspaceState | undefined {
    const guest = this.#guests.get(id);
    return guest && toState(guest);
  }

  all(): WorkspaceState[] {
    return this.guests().map(toState);
  }

  end(id: string): void {
    this.#guests.get(id)?.end();
    if (this.#guests.delete(id)) for (const listener of this.#listeners) listener(id);
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  record(): MachineRecord {
    return { guests: this.guests().map((guest) => guest.record()), links: [...this.#links] };
  }
}

function toState({ id, incarnation, pid }: SimulatedGuest): WorkspaceState {
  return { id, incarnation, phase: 'running', pid };
}
