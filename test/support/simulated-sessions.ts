/** Sessions with simulated guests: connected as soon as there is a guest of that incarnation, without sockets and frames. */
import type { RelayDesk } from '#guest/create-sessions.ts';
import type { Session, SessionState, Sessions } from '#guest/sessions.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { AttemptKey } from '#protocol/control.ts';
import type { HeartbeatParams } from '#protocol/relay.ts';
import type { SimulatedGuest } from './simulated-guest.ts';

export interface SimulatedSessionsOptions {
  readonly desk: RelayDesk;
  readonly guestOf?: (id: string) => SimulatedGuest | undefined;
}

export function simulatedSessions({ desk, guestOf = () => undefined }: SimulatedSessionsOptions): Sessions {
  const sessions = new Map<string, SimulatedSession>();
  const listeners = new Set<(id: string) => void>();
  const onChange = (id: string) => {
    for (const listener of listeners) listener(id);
  };
  const close = (id: string) => {
    sessions.get(id)?.close();
    sessions.delete(id);
  };
  return {
    ensure(id, incarnation) {
      const existing = sessions.get(id);
      if (existing?.incarnation === incarnation) return existing;
      close(id);
      const guest = guestOf(id);
      const session = new SimulatedSession({
        id,
        incarnation,
        desk,
        onChange,
        guest: guest?.incarnation === incarnation ? guest : undefined,
      });
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
      for (const id of [...sessions.keys()]) close(id);
    },
  };
}

interface SimulatedSessionOptions {
  readonly id: string;
  readonly incarnation: string;
  readonly desk: RelayDesk;
  readonly onChange: (id: string) => void;
  readonly guest: SimulatedGuest | undefined;
}

class SimulatedSession implements Session {
  readonly id: string;
  readonly incarnation: string;
  readonly #guest: SimulatedGuest | undefined;
  readonly #onChange: (id: string) => void;
  #isOpen = false;
  #isClosed = false;
  #lastHeartbeatMs = performance.now();
  #heartbeat: HeartbeatParams | undefined;

  constructor({ id, incarnation, desk, onChange, guest }: SimulatedSessionOptions) {
    this.id = id;
    this.incarnation = incarnation;
    this.#guest = guest;
    this.#onChange = onChange;
    // As a real connection: not in the same turn in which it was asked for.
    setImmediate(() => {
      if (!guest || this.#isClosed) return;
      this.#isOpen = true;
      onChange(id);
      guest.attach({ desk, beat: (heartbeat) => this.#beat(heartbeat) });
    });
  }

  get state(): SessionState {
    const problem = this.#isOpen ? {} : { problem: 'not connected yet' };
    const heartbeat = this.#heartbeat ? { heartbeat: this.#heartbeat } : {};
    const version = this.#isOpen ? { version: 'simulated' } : {};
    return {
      isControlOpen: this.#isOpen,
      isRelayOpen: this.#isOpen,
      lastHeartbeatMs: this.#lastHeartbeatMs,
      ...problem,
      ...heartbeat,
      ...version,
    };
  }

  readonly call: Session['call'] = async (method, params) => {
    if (!this.#isOpen || !this.#guest) throw new UnavailableError(`the simulated guest cannot be asked for ${method}`);
    return this.#guest.answer(method, params) as never;
  };

  readonly open: Session['open'] = () => {
    throw new UnavailableError('a simulated guest has no streams');
  };

  hint(nextSeq: number): void {
    if (this.#isOpen) this.#guest?.hint(nextSeq);
  }

  async accepted(keys: readonly AttemptKey[]): Promise<void> {
    await this.call('ackResults', { keys: [...keys] });
  }

  close(): void {
    if (this.#isOpen) this.#guest?.detach();
    this.#isOpen = false;
    this.#isClosed = true;
  }

  /** As the real session has it: most heartbeats say nothing new. */
  #beat(heartbeat: HeartbeatParams): void {
    const before = this.#heartbeat;
    this.#heartbeat = heartbeat;
    this.#lastHeartbeatMs = performance.now();
    const isWorthALook =
      before === undefined ||
      heartbeat.pendingResults > 0 ||
      before.runningTasks.length !== heartbeat.runningTasks.length ||
      before.freeSlots !== heartbeat.freeSlots;
    if (isWorthALook) this.#onChange(this.id);
  }
}
