/** The reasons an Agent gives for not being ready, each with what helps. Pure. */
import type { Condition } from '#api/meta.ts';
import type { Agent } from '#api/types.ts';
import { changeIsolation, commandOf, describe, edit, patch, restartAgent } from './commands.ts';
import { roomFor } from './crowded.ts';
import { type Advice, type Finding, type Sight, stuck, waiting } from './finding.ts';
import { lookAtFork } from './rest.ts';
import { isPatient } from './unseen.ts';
import { findTeam, makerOf } from './view.ts';
import { conditionOf, timeLeft, wordsOf } from './words.ts';

const SAYS = 'is not Ready';

type Judge = (agent: Agent, condition: Condition, sight: Sight) => Finding;

export function lookAtReason(agent: Agent, condition: Condition, sight: Sight): Finding {
  const judge = Object.hasOwn(REASONS, condition.reason) ? REASONS[condition.reason] : undefined;
  return judge ? judge(agent, condition, sight) : unknown(agent, condition, sight);
}

/** One that needs a person. */
const needs =
  (advice: (agent: Agent, condition: Condition, sight: Sight) => Advice): Judge =>
  (agent, condition, sight) =>
    stuck(SAYS, wordsOf(condition), advice(agent, condition, sight));

/** One that passes, or has something wrong with it when it does not. */
const passes: Judge = (agent, condition, sight) => {
  const { view, now } = sight;
  if (isPatient(condition.lastTransitionTime, now))
    return waiting(SAYS, wordsOf(condition), { text: 'patience: that takes a few seconds' });
  const warning = view.lastWarning(agent);
  const because = warning ? `${wordsOf(condition)}; last warning: ${wordsOf(warning)}` : wordsOf(condition);
  return stuck(SAYS, because, { text: 'that takes longer than it should; start it anew:', command: restartAgent(view, agent) });
};

const byDoctor: Judge = needs((_agent, _condition, { view }) => ({
  text: 'mend the network of this machine; this says what is missing:',
  command: doctor(view.flags),
}));

const REASONS: Readonly<Record<string, Judge>> = {
  Starting: passes,
  Ending: passes,
  NotRunning: passes,
  NetworkNotReady: passes,
  RelayDisconnected: passes,
  HttpBindFailed: passes,
  BackOff: backOff,
  IsolationUnavailable: needs(isolationAdvice),
  LimitsUnavailable: needs((agent, _condition, { view }) => ({
    text: 'run agentiso where it may use cgroups (agentiso doctor says what is missing), or do without limits:',
    command: changeIsolation(view, agent, { requireLimits: false }),
  })),
  RecordUnreadable: needs(() => ({ text: 'see that no process of it runs, then remove that file: it starts again, with its files' })),
  ImageNotFound: needs(({ spec: { image } }) => ({
    text: 'build it where the daemon runs, or name another one in spec.image (agentiso image list shows them):',
    command: `agentiso image build ${image}`,
  })),
  BackendMissing: needs(({ spec: { backend } }) =>
    backend === 'acp'
      ? { text: 'configure it where the daemon runs:', command: 'agentiso backends' }
      : { text: 'install it where the daemon runs:', command: `agentiso backends install ${backend}` },
  ),
  PermissionsUnsupported: needs((agent, _condition, { view }) => ({
    text: 'take out its permissions, or give it another backend:',
    command: edit(view, makerOf(view, agent) ?? agent),
  })),
  ModelMissing: needs((agent, _condition, { view }) => ({
    text: 'name the model that it shall use:',
    command: edit(view, makerOf(view, agent) ?? agent),
  })),
  ModelUnknown: needs((agent, _condition, { view }) => ({
    text: 'name one that is there, or write this one down in credentials.yaml:',
    command: edit(view, makerOf(view, agent) ?? agent),
  })),
  SnapshotNotFound: lookAtFork,
  SnapshotPending: lookAtFork,
  SnapshotUnusable: lookAtFork,
  GoldenPreparing: lookAtFork,
  GoldenFailed: lookAtFork,
  SecretMissing: needs((_agent, { message }) => {
    const names = /has no (.+)$/.exec(message)?.[1]?.split(', ') ?? [];
    return {
      text: `stop the daemon and start it with ${names.join(', ')} set: ${names.map((name) => `${name}=...`).join(' ')} agentiso serve`,
    };
  }),
  CrashLoop: needs((agent, condition, { view }) => ({
    text: `${crowdingAdvice(condition)}see what it said (${commandOf(view, 'logs', agent.metadata.name)}), mend it, then start it anew:`,
    command: restartAgent(view, agent),
  })),
  Exited: needs((agent, condition, { view }) => ({
    text: `${crowdingAdvice(condition)}restartPolicy ${agent.spec.restartPolicy} does not start it again; start it anew:`,
    command: restartAgent(view, agent),
  })),
  ProtocolMismatch: needs((agent, _condition, { view }) => ({
    text: 'its guest agent is of another version; start it anew:',
    command: restartAgent(view, agent),
  })),
  NetworkUnavailable: needs(networkAdvice),
  RulesRejected: byDoctor,
  LinkFailed: byDoctor,
  NetworkToolFailed: byDoctor,
  PortTaken: needs((agent, _condition, { view }) => ({
    text: 'give the port forward another hostPort, or none:',
    command: edit(view, makerOf(view, agent) ?? agent),
  })),
  DaemonStopped: (_agent, condition) =>
    waiting(SAYS, wordsOf(condition), { text: 'it starts with the daemon:', command: 'agentiso serve' }),
};

/** What the driver says of a guest that could start no more processes. */
function crowdingAdvice({ message }: Condition): string {
  const [, whose, limit] = /after (its workspace|the daemon's control group) had reached its limit of (\d+) processes/.exec(message) ?? [];
  if (limit === undefined) return '';
  return `${roomFor(limit, whose === 'its workspace')}; `;
}

function unknown(agent: Agent, condition: Condition, { view }: Sight): Finding {
  return stuck(SAYS, wordsOf(condition), { text: 'what happened to it:', command: describe(view, agent) });
}

/** The exit is when the workspace stopped being ready; the pause after it doubles from 1 s to 30 s. */
function backOff(agent: Agent, { reason, message }: Condition, { now }: Sight): Finding {
  const exitedMs = Date.parse(conditionOf(agent, 'WorkspaceReady')?.lastTransitionTime ?? '');
  const { restarts = 1 } = agent.status ?? {};
  const leftMs = exitedMs + Math.min(30_000, 1_000 * 2 ** (restarts - 1)) - now.getTime();
  const what = message.replace(/; it starts again in \d+ s$/, '');
  return waiting(SAYS, `${wordsOf({ reason, message: what })}; it starts again in ${timeLeft(leftMs)} (restart ${restarts} of 5)`, {
    text: 'patience: it is started again by itself',
  });
}

/** What the machine offers is in the message: `this machine offers process, sandbox (why not more)`. */
function isolationAdvice(agent: Agent, { message }: Condition, { view }: Sight): Advice {
  const offers = /this machine offers ([\w, ]+)/.exec(message)?.[1]?.trim().split(', ') ?? [];
  const { driver, minimum } = agent.spec.isolation ?? {};
  const wantsMachine = driver === 'vm' || minimum === 'vm';
  if (wantsMachine) {
    const strongest = offers.at(-1) ?? 'process';
    const command = changeIsolation(view, agent, { driver: 'auto', minimum: strongest });
    return { text: `this version has no driver vm; if ${strongest} is enough:`, command };
  }
  return {
    text: 'install what a sandbox needs (apt-get install bubblewrap), then restart agentiso; this says what is missing:',
    command: doctor(view.flags),
  };
}

function networkAdvice(agent: Agent, { message }: Condition, { view }: Sight): Advice {
  const wishes = [...message.matchAll(/network\.(\w+)/g)].map(([, field]) => field ?? '');
  const team = findTeam(view, agent.spec.team);
  const text = 'run agentiso as root on a machine with nftables (agentiso doctor says what is missing)';
  if (!team || wishes.length === 0) return { text, command: doctor(view.flags) };
  const network = Object.fromEntries(wishes.map((field) => [field, field === 'allowCidrs' ? null : false]));
  return { text: `${text}, or do without:`, command: patch(view, team, { spec: { network } }) };
}

/** It looks at this machine, not at a server. */
function doctor(flags: readonly string[]): string {
  const at = flags.indexOf('--home');
  return ['agentiso', 'doctor', ...(at < 0 ? [] : flags.slice(at, at + 2))].join(' ');
}
