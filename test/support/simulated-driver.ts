/** The driver of a simulated machine: workspaces start at once and end at once. */
import type { Driver, Isolation, WorkspaceSpec, WorkspaceState } from '#drivers/driver.ts';
import { UnavailableError } from '#lib/errors.ts';

/** The workspaces of a machine, as far as a driver has to do with them. */
export interface SimulatedWorkspaces {
  start(workspace: WorkspaceSpec): WorkspaceState;
  find(id: string): WorkspaceState | undefined;
  all(): WorkspaceState[];
  end(id: string): void;
  onChange(listener: (id: string) => void): () => void;
}

const SIMULATED: Isolation = { driver: 'sandbox', network: 'nftables', limits: 'none' };

export function simulatedDriver(machine: SimulatedWorkspaces): Driver {
  return {
    // Agents ask for drivers by the names that exist; this one stands for the strongest.
    name: SIMULATED.driver,
    isolation: SIMULATED,
    create: async (workspace) => machine.start(workspace),
    get: async (id) => machine.find(id),
    list: async () => machine.all(),
    async stop(id) {
      machine.end(id);
      return true;
    },
    async delete(id) {
      machine.end(id);
    },
    async connect() {
      throw new UnavailableError('a simulated guest has no sockets; its session reaches it directly');
    },
    usage: async (id) => (machine.find(id) ? { cpuMs: 0, memoryBytes: 0, processes: 1 } : undefined),
    runDirectory: (id) => `/nonexistent/${id}`,
    onChange: (listener) => machine.onChange(listener),
  };
}
