/** Everything of the guest that belongs to the host's relay connection: mail, tasks, signs of life, and the doors that lead to them. */
import { loadavg } from 'node:os';
import type { AttemptKey, ControlHandlers } from '#protocol/control.ts';
import type { RelayToGuestHandlers } from '#protocol/relay.ts';
import { AgentDoor } from '../agent-socket/agent-door.ts';
import { AgentVerbs } from '../agent-socket/verb-service.ts';
import { Waits } from '../agent-socket/waits.ts';
import { headOf } from '../git/head-of.ts';
import type { Guest } from '../guest.ts';
import { callToolHandler } from '../handlers/call-tool.ts';
import { HttpDoor } from '../http/http-door.ts';
import { Attempts } from '../state/attempts.ts';
import { Inbox } from '../state/inbox.ts';
import { Results } from '../state/results.ts';
import { Artifacts } from '../tasks/artifacts.ts';
import { TaskDaemon } from '../tasks/task-daemon.ts';
import { Heartbeat, toHeartbeat } from './heartbeat.ts';
import { HostLink, type RelayChannel } from './link.ts';
import { Receiver } from './receiver.ts';
import { ToldResults } from './told-results.ts';

export interface Relay {
  readonly handlers: Pick<ControlHandlers, 'configure' | 'pollResults' | 'ackResults' | 'revokeTask' | 'freezeTask' | 'callTool'>;
  readonly relayHandlers: Omit<RelayToGuestHandlers, 'hello' | 'ping'>;
  /** A greeted relay connection; the newest is the one that is used. */
  attach(channel: RelayChannel): void;
  /** Running or waiting. */
  runningTasks(): number;
  /** From here on nothing starts; what was accepted is on disk when it resolves. */
  close(): Promise<void>;
}

/** Reads nothing and starts nothing before the host comes: a guest of the warm pool has no state directory of its own until then. */
export function createRelay(guest: Guest): Relay {
  let opened: Parts | undefined;
  const parts = () => {
    opened ??= openParts(guest);
    return opened;
  };
  return {
    handlers: {
      configure: async (params) => {
        const { daemon, door, agentDoor, gate } = parts();
        daemon.setSlots(params.maxTasks);
        const [result] = await Promise.all([door.configure(params), agentDoor.configure(params)]);
        gate.configured();
        return result;
      },
      pollResults: ({ limit }) => parts().daemon.poll(limit),
      ackResults: async ({ keys }) => {
        await acknowledge(parts(), keys);
        return {};
      },
      revokeTask: async (key) => {
        const { daemon, told } = parts();
        const wasRunning = await daemon.revoke(key);
        told.forget([key]);
        return { wasRunning };
      },
      freezeTask: async ({ isFrozen, ...key }) => ({ isRunning: parts().daemon.freeze(key, isFrozen) }),
      callTool: callToolHandler(() => parts().verbs.get()),
    },
    relayHandlers: {
      messageHint: async ({ nextSeq, messages, accepted = [] }) => {
        const { receiver } = parts();
        receiver.hint(nextSeq, messages);
        // In this turn: what the messages bring and what is over share a sync.
        await Promise.all([receiver.taken(), accepted.length > 0 && acknowledge(parts(), accepted)]);
        return {};
      },
    },
    attach: (channel) => parts().host.attach(channel),
    runningTasks: () => (opened === undefined ? 0 : opened.daemon.running.length + opened.daemon.waiting),
    close: async () => {
      if (opened !== undefined) await closeParts(opened);
    },
  };
}

async function acknowledge({ daemon, told }: Parts, keys: readonly AttemptKey[]): Promise<void> {
  await daemon.ack(keys);
  told.forget(keys);
}

interface Parts {
  readonly host: HostLink;
  readonly inbox: Inbox;
  readonly attempts: Attempts;
  readonly results: Results;
  readonly daemon: TaskDaemon;
  readonly receiver: Receiver;
  readonly told: ToldResults;
  readonly door: HttpDoor;
  readonly agentDoor: AgentDoor;
  readonly verbs: AgentVerbs;
  readonly gate: StartGate;
}

function openParts(guest: Guest): Parts {
  const { stateDir } = guest;
  const warn = (text: string) => guest.log.write('guest', text);
  const host = new HostLink();
  const room = { onFull: guest.reserve && (() => guest.reserve?.spend() ?? Promise.resolve(false)) };
  const inbox = new Inbox(stateDir, warn, room);
  const attempts = new Attempts(stateDir, warn, room);
  const results = new Results(stateDir, { isSettled: (key) => attempts.isSettled(key), warn, ...room });
  const head = new ToldHead(guest.root);
  const told = new ToldResults(() => daemon);
  const heartbeat = new Heartbeat(() =>
    told.with((results) =>
      host.call('heartbeat', { ...describe(inbox, daemon), ...head.tell(), ...(waits.count > 0 && { waits: waits.count }), ...results }),
    ),
  );
  const waits = new Waits(() => heartbeat.changed());
  // A commit is told when the command that made it has ended, or else with the next sign of life.
  guest.groups.onEnd(() => {
    if (head.isNews()) heartbeat.changed();
  });
  const daemon = new TaskDaemon({
    guest,
    attempts,
    results,
    artifacts: new Artifacts(stateDir, warn),
    unseen: () => inbox.unseen(),
    onChange: () => heartbeat.changed(),
    onResult: () => heartbeat.urgent(),
  });
  const gate = new StartGate(() => daemon.open());
  const receiver = new Receiver({
    inbox,
    host,
    takeAssignments: (messages) => daemon.enqueue(messages),
    onDrained: () => gate.drained(),
    warn,
  });
  // Before the first sign of life of a connection.
  host.add(told);
  host.add(heartbeat);
  host.add(receiver);
  const verbs = new AgentVerbs({ guest, inbox, host, waits, report: () => receiver.report() });
  const door = new HttpDoor({ guest, inbox, host, verbs });
  return { host, inbox, attempts, results, daemon, receiver, told, door, agentDoor: new AgentDoor({ guest, verbs }), verbs, gate };
}

/**
 * Tasks start once the mail is in, because a newer attempt may be in it, and what was revoked meanwhile is; and once the host has said
 * all it has to say: a task that waited for this guest must not miss its secrets.
 */
class StartGate {
  readonly #open: () => void;
  #isDrained = false;
  #isConfigured = false;

  constructor(open: () => void) {
    this.#open = open;
  }

  drained(): void {
    this.#isDrained = true;
    if (this.#isConfigured) this.#open();
  }

  configured(): void {
    this.#isConfigured = true;
    if (this.#isDrained) this.#open();
  }
}

/** Where the branch of the workspace was when the host last heard of it. */
class ToldHead {
  readonly #root: string;
  #told: string | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  isNews(): boolean {
    return headOf(this.#root) !== this.#told;
  }

  tell(): { readonly head?: string } {
    this.#told = headOf(this.#root);
    return this.#told === undefined ? {} : { head: this.#told };
  }
}

function describe(inbox: Inbox, daemon: TaskDaemon) {
  return toHeartbeat({
    load: loadavg()[0] ?? 0,
    runningTasks: daemon.running,
    freeSlots: daemon.freeSlots,
    pendingResults: daemon.pendingResults,
    storedSeq: inbox.cursor,
  });
}

async function closeParts({ host, inbox, attempts, results, daemon, door, agentDoor }: Parts): Promise<void> {
  host.close();
  await Promise.all([daemon.close(), door.close(), agentDoor.close()]);
  await Promise.all([inbox.close(), attempts.close(), results.close()]);
}
