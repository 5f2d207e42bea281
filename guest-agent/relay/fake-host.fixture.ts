/** A host and a guest in one process, joined by a real connection: the mailbox is a list, the guest's parts are real. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { vi } from 'vitest';
import { type AgentVerbs, agentVerbs } from '#protocol/agent-verbs.ts';
import { Channel } from '#protocol/channel.ts';
import { GENERATION } from '#protocol/common.ts';
import type { AttemptKey, ConfigureParams, TaskResult } from '#protocol/control.ts';
import type { HandlersOf } from '#protocol/method.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import {
  type Envelope,
  type HeartbeatParams,
  type RelayHostParams,
  type RelayToGuest,
  type RelayToHost,
  type RelayToHostHandlers,
  relayToGuest,
  relayToHost,
  type TaskAssignment,
  type TeamMessageParams,
} from '#protocol/relay.ts';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import type { Guest } from '../guest.ts';
import { AgentLog } from '../log/agent-log.ts';
import { ProcessGroups } from '../process-group.ts';
import { createRelay, type Relay } from './relay.ts';

/** Of its own: other guests of this machine may have taken 127.0.0.1. */
export const CONFIGURATION: ConfigureParams = {
  httpAddress: `127.98.${(process.pid >> 8) & 255}.${process.pid & 255}`,
  agentToken: 'agent-token',
  teamToken: null,
  card: { name: 'bob' },
  peers: {},
  maxTasks: 4,
};

const ping = async () => ({ version: '1', generation: GENERATION, uptimeMs: 0 });

type VerbHandlers = HandlersOf<AgentVerbs>;

export class FakeHost {
  readonly mailbox: Envelope[] = [];
  readonly heartbeats: HeartbeatParams[] = [];
  readonly acks: RelayHostParams<'teamAck'>[] = [];
  readonly sent: TeamMessageParams[] = [];
  /** How many of them each call of the guest had. */
  readonly calls: number[] = [];
  readonly tasks: RelayHostParams<'taskCreate'>[] = [];
  readonly pulls: RelayHostParams<'teamReceive'>[] = [];
  /** The verbs of the team that were asked for, in order. */
  readonly asked: { readonly verb: string; readonly params: unknown; readonly signal: AbortSignal }[] = [];
  /** What it says to them; a verb that is not here is refused. */
  answers: Partial<VerbHandlers> = {};
  areHintsLost = false;
  /** Whether the next hint brings its message along. */
  carries: () => boolean = () => false;
  /** Messages one answer carries. */
  maxAnswered = 100;
  #channel: Channel<RelayToGuest, RelayToHost> | undefined;

  /** Accepted, and hinted. */
  send(message: Partial<Envelope> = {}): Envelope {
    const seq = this.mailbox.length + 1;
    const sent = { namespace: 'default', team: 'blue', from: 'ann', to: 'bob', timestamp: new Date().toISOString() };
    const envelope: Envelope = { message_id: `m${seq}`, seq, ...sent, message_type: 'text', content: `text ${seq}`, ...message };
    this.mailbox.push(envelope);
    const messages = this.carries() ? { messages: [envelope] } : {};
    if (!this.areHintsLost) void this.#channel?.call('messageHint', { nextSeq: seq + 1, ...messages }).catch(() => {});
    return envelope;
  }

  /** Says with a hint that it has these results for good. */
  async accept(...accepted: readonly AttemptKey[]): Promise<void> {
    await this.#channel?.call('messageHint', { nextSeq: this.mailbox.length + 1, accepted: [...accepted] });
  }

  assign(assignment: Partial<TaskAssignment> & Pick<TaskAssignment, 'command'>): Envelope {
    const taskUid = assignment.taskUid ?? `uid-${this.mailbox.length + 1}`;
    const whole = { taskUid, taskName: `name-of-${taskUid}`, attempt: 1, fencingToken: 7, timeoutMs: 60_000, ...assignment };
    return this.send({ message_type: 'task_assignment', content: JSON.stringify(whole) });
  }

  /** To a guest of this process, which is greeted by it. */
  async connect(relay: Relay): Promise<SocketPair> {
    const pair = await socketPair();
    const hello = () => Promise.reject(new Error('greeted already'));
    const handlers = { ...relay.relayHandlers, hello, ping };
    const guestEnd = new Channel(pair.near, { outgoing: relayToHost, incoming: relayToGuest, handlers });
    this.join(pair.far);
    relay.attach(guestEnd);
    return pair;
  }

  /** This end of a relay connection. `incoming`: what this host knows. */
  join(stream: Duplex, incoming: RelayToHost = relayToHost): Channel<RelayToGuest, RelayToHost> {
    const channel = new Channel(stream, { outgoing: relayToGuest, incoming, handlers: this.#handlers() });
    this.#channel = channel;
    return channel;
  }

  get storedSeq(): number {
    return this.acks.at(-1)?.storedSeq ?? 0;
  }

  #verbs(): VerbHandlers {
    const verbs = (Object.keys(agentVerbs) as (keyof VerbHandlers)[]).map((verb) => {
      const answer = async (params: unknown, context: { readonly signal: AbortSignal }): Promise<unknown> => {
        this.asked.push({ verb, params, signal: context.signal });
        const given = this.answers[verb] as ((params: unknown, context: unknown) => Promise<unknown>) | undefined;
        if (given === undefined) throw new ProtocolError('Unavailable', `this host has no answer to ${verb}`);
        return given(params, context);
      };
      return [verb, answer] as const;
    });
    // The same names as in the table; each answer is checked by the channel that carries it.
    return Object.fromEntries(verbs) as unknown as VerbHandlers;
  }

  #handlers(): RelayToHostHandlers {
    return {
      ...this.#verbs(),
      ping,
      heartbeat: async (params) => {
        this.heartbeats.push(params);
        return {};
      },
      teamReceive: async (params) => {
        this.pulls.push(params);
        if (params.limit > this.maxAnswered) throw new ProtocolError('TooLarge', 'more than a frame');
        const messages = this.mailbox.filter(({ seq }) => seq > params.after).slice(0, params.limit);
        return { messages, nextSeq: this.mailbox.length + 1 };
      },
      teamAck: async (params) => {
        this.acks.push(params);
        return { unknown: [] };
      },
      teamMessage: async (params) => {
        this.calls.push(1);
        this.sent.push(params);
        return { message_id: 'accepted-1', state: 'Accepted' };
      },
      teamMessages: async ({ messages }) => {
        this.calls.push(messages.length);
        const results = messages.map((params) => {
          this.sent.push(params);
          const refused = { code: 'NotFound' as const, message: `there is no agent ${params.to}` };
          return params.to === 'nobody' ? { error: refused } : { message_id: `accepted-${this.sent.length}` };
        });
        return { results };
      },
      taskCreate: async (params) => {
        this.tasks.push(params);
        return { task: 'task-1' };
      },
    };
  }
}

/** One workspace with its state, in which guests come and go. */
export class FakeWorkspace {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'agentiso-relay-')));
  readonly root = join(this.directory, 'workspace');
  readonly stateDir = join(this.directory, 'state');
  readonly host = new FakeHost();
  readonly #ends: (() => Promise<void>)[] = [];
  #isConfigured = true;
  /** Of the guests that come from now on. */
  syncFiles: Guest['syncFiles'];
  reserve: Guest['reserve'];
  guest!: Guest;
  relay!: Relay;
  connection!: SocketPair;

  /** Configured by its host, unless the test wants to do that itself. */
  static async open({ isConfigured = true } = {}): Promise<FakeWorkspace> {
    const workspace = new FakeWorkspace();
    workspace.#isConfigured = isConfigured;
    mkdirSync(workspace.root);
    mkdirSync(workspace.stateDir);
    await workspace.restart();
    return workspace;
  }

  /** A new guest on the same state, as after a crash of the one before: nobody tells that one. */
  async restart(): Promise<void> {
    this.connection?.destroy();
    const groups = new ProcessGroups();
    const log = new AgentLog(this.stateDir);
    const env = () => ({ PATH: '/usr/local/bin:/usr/bin:/bin', FROM_GUEST: 'yes' });
    const places = { root: this.root, stateDir: this.stateDir, agentSocket: join(this.directory, 'agent.sock') };
    const machine = { ...(this.syncFiles && { syncFiles: this.syncFiles }), ...(this.reserve && { reserve: this.reserve }) };
    this.guest = { id: 'id', incarnation: 'inc', ...places, env, groups, log, stop: () => {}, ...machine };
    const relay = createRelay(this.guest);
    this.relay = relay;
    this.#ends.push(async () => {
      await groups.close(100);
      await relay.close();
      await log.close();
    });
    await this.connect();
    if (this.#isConfigured) await this.configure();
  }

  async connect(): Promise<void> {
    this.connection = await this.host.connect(this.relay);
  }

  async close(): Promise<void> {
    this.connection.destroy();
    for (const end of this.#ends) await end();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async poll(limit = 20) {
    return this.relay.handlers.pollResults({ limit }, { signal: new AbortController().signal, up: {}, down: {} });
  }

  async ack(...results: readonly { readonly taskUid: string; readonly attempt: number }[]): Promise<void> {
    const keys = results.map(({ taskUid, attempt }) => ({ taskUid, attempt }));
    await this.relay.handlers.ackResults({ keys }, { signal: new AbortController().signal, up: {}, down: {} });
  }

  async revoke(taskUid: string, attempt = 1): Promise<boolean> {
    const call = { signal: new AbortController().signal, up: {}, down: {} };
    return (await this.relay.handlers.revokeTask({ taskUid, attempt }, call)).wasRunning;
  }

  async configure(params: Partial<ConfigureParams> = {}) {
    const call = { signal: new AbortController().signal, up: {}, down: {} };
    return this.relay.handlers.configure({ ...CONFIGURATION, ...params }, call);
  }

  /** As soon as it is offered. */
  async resultOf(taskUid: string, attempt = 1): Promise<TaskResult> {
    return vi.waitFor(
      async () => {
        const found = (await this.poll(100)).results.find((result) => result.taskUid === taskUid && result.attempt === attempt);
        if (found === undefined) throw new Error(`no result of ${taskUid}/${attempt}`);
        return found;
      },
      { timeout: 15_000, interval: 20 },
    );
  }
}
