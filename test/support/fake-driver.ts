/** A driver that keeps its workspaces in memory and behaves like a real one: starts take a moment, ends take two calls, anything may fail. */
import type { Duplex } from 'node:stream';
import type { Driver, Isolation, Snapshots, Suspension, WorkspaceSpec, WorkspaceState, WriteHold } from '#drivers/driver.ts';
import { ConflictError, NotFoundError, WaitingError } from '#lib/errors.ts';
import { socketPair } from './socket-pair.ts';

export interface FakeDriver extends Driver {
  /** id → what it is now */
  readonly workspaces: ReadonlyMap<string, WorkspaceState>;
  /** Every call that changed something, in order: `create <id> <incarnation>`, `delete <id>`. */
  readonly calls: readonly string[];
  /** What the next calls throw, one each; empty: all is well. */
  readonly failures: unknown[];
  /** How large the memory of suspended workspaces is on the disk; undefined: they stay in memory. */
  savedBytes: number | undefined;
  /** Why none can be suspended. */
  suspendFailure: unknown;
  /** The same for holds alone. */
  readonly holdFailures: unknown[];
  /** The guest inside answers. */
  boot(id: string): void;
  /** It stands still for this reason; undefined: it goes on. */
  holdUp(id: string, why: string | undefined): void;
  /** It has as many processes as it may; undefined: it has room. */
  crowd(id: string, crowded: WorkspaceState['crowded']): void;
  /** The workspace ends; with a failure unless it ended by itself. */
  exit(id: string, failure?: string): void;
}

export interface FakeDriverOptions {
  readonly name?: string;
  /** True: a new workspace runs at once. */
  readonly bootsAtOnce?: boolean;
  readonly isolation?: Isolation;
  /** Also: `take <id> <snapshot>`, `restore <id> <snapshot>`, `suspend <id>`, `resume <id>`. */
  readonly canRest?: boolean;
  /** Also: `hold <id>`, `release <id>`. */
  readonly canHold?: boolean;
}

const FIRST_PID = 1_000;

const NONE: Isolation = { driver: 'process', network: 'none', limits: 'none' };

export function fakeDriver(options: FakeDriverOptions = {}): FakeDriver {
  const { name = 'process', bootsAtOnce = true, isolation = NONE, canRest = false, canHold = false } = options;
  const workspaces = new Map<string, WorkspaceState>();
  const ending = new Set<string>();
  const calls: string[] = [];
  const failures: unknown[] = [];
  const holdFailures: unknown[] = [];
  const listeners = new Set<(id: string) => void>();
  let pid = FIRST_PID;

  const checkFailure = () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  };
  const set = (id: string, state: WorkspaceState) => {
    workspaces.set(id, state);
    for (const listener of listeners) listener(id);
  };
  const present = (id: string): WorkspaceState => {
    const state = workspaces.get(id);
    if (!state) throw new NotFoundError(`workspace ${id} not found`);
    return state;
  };

  const kept = new Set<string>();
  const snapshots: Snapshots = {
    async take(id, snapshot) {
      checkFailure();
      present(id);
      calls.push(`take ${id} ${snapshot}`);
      kept.add(snapshot);
      return { bytes: 4_096 };
    },
    async restore(id, snapshot) {
      checkFailure();
      if (!kept.has(snapshot)) throw new NotFoundError(`there is no snapshot ${snapshot}`);
      const state = workspaces.get(id);
      if (state && state.phase !== 'exited') throw new ConflictError(`workspace ${id} runs`);
      calls.push(`restore ${id} ${snapshot}`);
    },
    async remove(snapshot) {
      checkFailure();
      kept.delete(snapshot);
    },
    list: async () => [...kept],
  };
  const suspend = async (id: string) => {
    checkFailure();
    if (fake.suspendFailure !== undefined) throw fake.suspendFailure;
    calls.push(`suspend ${id}`);
    const { savedBytes: bytes } = fake;
    const { pid: _ended, ...state } = present(id);
    set(
      id,
      bytes === undefined
        ? { ...present(id), isSuspended: true }
        : { ...state, isSuspended: true, savedAs: { path: `/saved/${id}`, bytes } },
    );
  };
  const resume: Suspension['resume'] = async (id, _signal, place) => {
    checkFailure();
    calls.push(`resume ${id}${place?.network === undefined ? '' : ` at ${place.network}`}`);
    const { isSuspended: _before, savedAs, ...state } = present(id);
    set(id, savedAs === undefined ? state : { ...state, pid: pid++ });
  };

  const writeHold: WriteHold = {
    async hold(id) {
      const failure = holdFailures.shift();
      if (failure !== undefined) throw failure;
      calls.push(`hold ${id}`);
    },
    release: async (id) => void calls.push(`release ${id}`),
  };

  const fake: FakeDriver = {
    name,
    isolation,
    snapshots,
    ...(canRest && { suspension: { suspend, resume } }),
    ...(canHold && { writeHold }),
    savedBytes: undefined,
    suspendFailure: undefined,
    workspaces,
    calls,
    failures,
    holdFailures,
    async create({ id, incarnation }: WorkspaceSpec) {
      checkFailure();
      const existing = workspaces.get(id);
      if (existing && (existing.phase !== 'exited' || existing.incarnation === incarnation)) return existing;
      calls.push(`create ${id} ${incarnation}`);
      const state: WorkspaceState = { id, incarnation, phase: bootsAtOnce ? 'running' : 'starting', pid: pid++ };
      set(id, state);
      return state;
    },
    async get(id) {
      checkFailure();
      return workspaces.get(id);
    },
    async list() {
      return [...workspaces.values()];
    },
    async stop(id) {
      checkFailure();
      const state = workspaces.get(id);
      if (!state || state.phase === 'exited') return true;
      calls.push(`stop ${id}`);
      if (!ending.delete(id)) {
        ending.add(id);
        return false;
      }
      set(id, { id, incarnation: state.incarnation, phase: 'exited' });
      return true;
    },
    async delete(id) {
      checkFailure();
      if (!workspaces.has(id)) return;
      calls.push(`delete ${id}`);
      if (ending.delete(id)) workspaces.delete(id);
      else ending.add(id);
    },
    async connect(id): Promise<Duplex> {
      if (present(id).phase !== 'running') throw new WaitingError('GuestNotReady', 'the guest is not listening yet', 100);
      return (await socketPair()).near;
    },
    async usage(id) {
      return workspaces.get(id)?.phase === 'running' ? { cpuMs: 10, memoryBytes: 50_000_000, processes: 1 } : undefined;
    },
    runDirectory: (id) => `/run/fake/${id}`,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    holdUp(id, why) {
      const { heldUp: _before, ...state } = present(id);
      set(id, why === undefined ? state : { ...state, heldUp: why });
    },
    crowd(id, crowded) {
      const { crowded: _before, ...state } = present(id);
      set(id, crowded === undefined ? state : { ...state, crowded });
    },
    boot(id) {
      set(id, { ...present(id), phase: 'running' });
    },
    exit(id, failure) {
      const { incarnation } = present(id);
      set(id, { id, incarnation, phase: 'exited', ...(failure === undefined ? {} : { failure }) });
    },
  };
  return fake;
}
