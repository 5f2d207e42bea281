/** The sessions of a daemon: for each running workspace a control and a relay connection, and what its heartbeats say. */
import type { Duplex } from 'node:stream';
import { awakeMs } from '#lib/awake-time.ts';
import { UnavailableError } from '#lib/errors.ts';
import { GENERATION } from '#protocol/common.ts';
import type { AttemptKey, ControlMethodName } from '#protocol/control.ts';
import type { Envelope, HeartbeatParams, RelayToHostHandlers } from '#protocol/relay.ts';
import { connectGuest, type GuestClient } from './client.ts';
import { Lifeline } from './lifeline.ts';
import { connectRelay, type RelayClient } from './relay.ts';
import type { Session, SessionState, Sessions } from './sessions.ts';

type Asked = Omit<RelayToHostHandlers, 'ping' | 'heartbeat'>;

/** What a guest asks of the host; who it is follows from the connection. */
export type RelayDesk = {
  readonly [M in keyof Asked]: (
    id: string,
    params: Parameters<Asked[M]>[0],
    context: { readonly signal: AbortSignal; readonly incarnation: string },
  ) => ReturnType<Asked[M]>;
};

function asked({ id, incarnation, desk }: Pick<GuestSessionOptions, 'id' | 'incarnation' | 'desk'>): Asked {
  const entries = Object.entries(desk).map(([name, answer]) => {
    const ask = answer as (id: string, params: unknown, context: object) => unknown;
    return [name, (params: unknown, context: { readonly signal: AbortSignal }) => ask(id, params, new AskedHere(context, incarnation))];
  });
  return Object.fromEntries(entries) as Asked;
}

/** The signal is made when somebody asks for it. */
class AskedHere {
  readonly #context: { readonly signal: AbortSignal };
  readonly incarnation: string;

  constructor(context: { readonly signal: AbortSignal }, incarnation: string) {
    this.#context = context;
    this.incarnation = incarnation;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}

export interface SessionsOptions {
  dial(id: string, port: 'control' | 'relay', signal: AbortSignal): Promise<Duplex>;
  readonly desk: RelayDesk;
  readonly version: string;
}

export function createSessions(options: SessionsOptions): Sessions {
  const sessions = new Map<string, GuestSession>();
  const listeners = new Set<(id: string) => void>();
  const onChange = (id: string) => {
    for (const listener of listeners) listener(id);
  };
  const close = (id: string, reason: string) => {
    sessions.get(id)?.close(reason);
    sessions.delete(id);
  };
  return {
    ensure(id, incarnation) {
      const existing = sessions.get(id);
      if (existing?.incarnation === incarnation) return existing;
      close(id, 'another incarnation has begun');
      const session = new GuestSession({ id, incarnation, onChange, ...options });
      sessions.set(id, session);
      return session;
    },
    get: (id) => sessions.get(id),
    close,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    closeAll() {
      for (const id of [...sessions.keys()]) close(id, 'the daemon is stopping');
    },
  };
}

interface GuestSessionOptions extends SessionsOptions {
  readonly id: string;
  readonly incarnation: string;
  readonly onChange: (id: string) => void;
}

class GuestSession implements Session {
  readonly id: string;
  readonly incarnation: string;
  readonly #options: GuestSessionOptions;
  readonly #control: Lifeline<GuestClient>;
  readonly #relay: Lifeline<RelayClient>;
  #lastHeartbeatMs = awakeMs();
  #heartbeat: HeartbeatParams | undefined;

  constructor(options: GuestSessionOptions) {
    const { id, incarnation, dial } = options;
    this.id = id;
    this.incarnation = incarnation;
    this.#options = options;
    const onChange = () => options.onChange(id);
    this.#control = new Lifeline({
      connect: async (signal) => connectGuest(await dial(id, 'control', signal), { id, incarnation, signal }),
      onChange,
    });
    this.#relay = new Lifeline({
      connect: async (signal) => connectRelay(await dial(id, 'relay', signal), { id, incarnation, signal, handlers: this.#handlers() }),
      onChange,
    });
  }

  get state(): SessionState {
    const control = this.#control.connection;
    const relay = this.#relay.connection;
    const problem = this.#control.problem ?? this.#relay.problem;
    const error = this.#control.error ?? this.#relay.error;
    return {
      isControlOpen: control !== undefined,
      isRelayOpen: relay !== undefined,
      lastHeartbeatMs: this.#lastHeartbeatMs,
      ...(problem !== undefined && { problem }),
      ...(error !== undefined && { error }),
      ...(this.#heartbeat && { heartbeat: this.#heartbeat }),
      ...(control && { version: control.version }),
    };
  }

  // Promise-returning also when there is no connection: callers wait for one thing.
  readonly call: Session['call'] = async (method, params, options) => this.#guest(method).call(method, params, options);

  readonly open: Session['open'] = (method, params, options) => this.#guest(method).open(method, params, options);

  hint(nextSeq: number, messages?: readonly Envelope[], jsons?: readonly string[]): void {
    this.#relay.connection?.hint(nextSeq, messages, jsons);
  }

  async accepted(keys: readonly AttemptKey[]): Promise<void> {
    const relay = this.#relay.connection;
    if (relay === undefined) throw new UnavailableError('the guest is not connected', { reason: 'GuestDisconnected' });
    await relay.accepted(keys);
  }

  close(reason: string): void {
    this.#control.close(reason);
    this.#relay.close(reason);
  }

  #guest(method: ControlMethodName): GuestClient {
    const guest = this.#control.connection;
    if (guest !== undefined) return guest;
    throw new UnavailableError(`the guest cannot be asked for ${method}: ${this.#control.problem}`, { reason: 'GuestDisconnected' });
  }

  #handlers(): RelayToHostHandlers {
    const { version } = this.#options;
    return {
      ping: async () => ({ version, generation: GENERATION, uptimeMs: Math.round(process.uptime() * 1000) }),
      heartbeat: async (heartbeat) => {
        this.#beat(heartbeat);
        return {};
      },
      ...asked(this.#options),
    };
  }

  #beat(heartbeat: HeartbeatParams): void {
    const before = this.#heartbeat;
    this.#heartbeat = heartbeat;
    this.#lastHeartbeatMs = awakeMs();
    const isWorthALook =
      before === undefined ||
      heartbeat.pendingResults > 0 ||
      before.head !== heartbeat.head ||
      before.runningTasks.length !== heartbeat.runningTasks.length ||
      before.freeSlots !== heartbeat.freeSlots;
    if (isWorthALook) this.#options.onChange(this.id);
  }
}
