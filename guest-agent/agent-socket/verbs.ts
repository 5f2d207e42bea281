/** What the programs of the workspace may ask for, by name: the verbs of the team, which the host answers, and those of the own mail. */
import { agentVerbs } from '#protocol/agent-verbs.ts';
import { type Checked, mailVerbs } from '#protocol/mail-verbs.ts';
import { parseParams } from '#protocol/parse-params.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type RelayHostMethodName, relayToHost } from '#protocol/relay.ts';
import type { Parser } from '#protocol/shape.ts';
import type { Fields } from '../http/body.ts';
import type { HostLink } from '../relay/link.ts';
import type { MailReader } from './mail-reader.ts';
import type { Reader } from './readers.ts';

const DEADLINE_MS = 10_000;
/** Those that look at many files, or make many objects. */
const SLOW_MS = 30_000;
const SLOW = ['vaultSearch', 'vaultList', 'createSubTeam'];
/** Words by which a request might say who asks. */
const IDENTITY_FIELDS = ['from', 'agent', 'owner'];

export interface Speaker {
  /** By which names this agent is known in its team. */
  readonly names: readonly string[];
}

/** The program that asks. */
export interface Asker {
  readonly reader: Reader;
  readonly speaker: Speaker;
  /** Aborted: it waits no more. */
  readonly signal: AbortSignal;
}

export interface VerbParts {
  readonly reader: MailReader;
  readonly host: Pick<HostLink, 'call'>;
}

export interface VerbAnswer {
  readonly result: object;
  /** To be called when the result has left the guest. */
  readonly onSent?: () => void;
}

export interface Verb {
  /** False: to ask for it proves nothing about answers that were given before. */
  readonly isProof: boolean;
  run(fields: Fields, asker: Asker): Promise<VerbAnswer>;
}

export function createVerbs(parts: VerbParts): ReadonlyMap<string, Verb> {
  const team = Object.keys(agentVerbs) as (keyof typeof agentVerbs)[];
  return new Map<string, Verb>([
    ...team.map((name): [string, Verb] => [name, hostVerb(parts, name)]),
    ['sendMessage', hostVerb(parts, 'teamMessage')],
    ['checkMessages', checkMessages(parts)],
    ['waitForMessage', waitForMessage(parts)],
  ]);
}

/** Params go to the host and its result comes back, both as the table says and otherwise as they are. */
function hostVerb({ host }: VerbParts, method: RelayHostMethodName): Verb {
  const deadlineMs = SLOW.includes(method) ? SLOW_MS : DEADLINE_MS;
  return {
    isProof: true,
    run: async (fields, { speaker, signal }) => {
      const params = parseParams(relayToHost[method].params as Parser<object>, withoutIdentity(fields, speaker));
      // One method at a time, with the params that its own parser gave.
      return { result: (await host.call(method, params as never, { signal, deadlineMs })) as object };
    },
  };
}

function checkMessages({ reader }: VerbParts): Verb {
  return {
    isProof: true,
    run: async (fields, asker) => {
      const params = parseParams(mailVerbs.checkMessages.params, fields);
      const result: Checked = await reader.check(asker.reader, params, asker.signal);
      return params.keep === true ? { result } : { result, onSent: () => reader.gaveOut(asker.reader, result.messages) };
    },
  };
}

function waitForMessage({ reader }: VerbParts): Verb {
  return {
    isProof: false,
    run: async (fields, { signal }) => {
      const params = parseParams(mailVerbs.waitForMessage.params, fields);
      return { result: await reader.wait(params, signal) };
    },
  };
}

/** Who asks follows from the socket. To say so again is harmless; to say anything else is refused. */
export function withoutIdentity(fields: Fields, { names }: Speaker): Fields {
  const other = IDENTITY_FIELDS.find((name) => Object.hasOwn(fields, name) && !names.includes(String(fields[name])));
  if (other !== undefined) {
    const message = `${other} may only be ${names[0]}, and not ${JSON.stringify(fields[other])?.slice(0, 100)}`;
    throw new ProtocolError('Forbidden', message, undefined, { field: other, hint: `leave out ${other}` });
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !IDENTITY_FIELDS.includes(name)));
}
