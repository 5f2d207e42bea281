/** Sessions of guests that live in memory: they connect, beat and answer as a test says. */
import type { Session, SessionState, Sessions } from '#guest/sessions.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { HeartbeatParams } from '#protocol/relay.ts';

export interface FakeSessions extends Sessions {
  /** Every call that reached a guest: `uid method {params}`. */
  readonly calls: string[];
  /** How the next sessions begin. */
  connectsAtOnce: boolean;
  set(id: string, state: Partial<SessionState>): void;
  beat(id: string, heartbeat?: Partial<HeartbeatParams>): void;
  /** Answers by method; `{}` when absent. */
  readonly answers: Map<string, (params: unknown) => unknown>;
}

const BEAT: HeartbeatParams = { load: 0, runningTasks: [], freeSlots: 4, pendingResults: 0, uptimeMs: 1, storedSeq: 0 };

export function fakeSessions(monotonicMs: () => number = () => 0): FakeSessions {
  const sessions = new Map<string, Session & { state: SessionState }>();
  const listeners = new Set<(id: string) => void>();
  const calls: string[] = [];
  const answers = new Map<string, (params: unknown) => unknown>();
  const fake: FakeSessions = {
    calls,
    answers,
    connectsAtOnce: true,
    ensure(id, incarnation) {
      const existing = sessions.get(id);
      if (existing?.incarnation === incarnation) return existing;
      const isOpen = fake.connectsAtOnce;
      const state: SessionState = { isControlOpen: isOpen, isRelayOpen: isOpen, lastHeartbeatMs: monotonicMs() };
      const session: Session & { state: SessionState } = {
        id,
        incarnation,
        state: isOpen ? state : { ...state, problem: 'nobody listens' },
        async call(method, params) {
          if (!session.state.isControlOpen) throw new UnavailableError('not connected');
          calls.push(`${id} ${method} ${JSON.stringify(params)}`);
          return (answers.get(method)?.(params) ?? {}) as never;
        },
        open() {
          throw new Error('a fake guest has no streams');
        },
        hint() {},
        async accepted(keys) {
          await session.call('ackResults', { keys: [...keys] });
        },
      };
      sessions.set(id, session);
      return session;
    },
    get: (id) => sessions.get(id),
    close: (id) => void sessions.delete(id),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    closeAll: () => sessions.clear(),
    set(id, change) {
      const session = sessions.get(id);
      if (session) session.state = { ...session.state, ...change };
      for (const listener of listeners) listener(id);
    },
    beat(id, heartbeat = {}) {
      fake.set(id, { heartbeat: { ...BEAT, ...heartbeat }, lastHeartbeatMs: monotonicMs() });
    },
  };
  return fake;
}
