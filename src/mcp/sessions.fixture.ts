/** A session with small tools, resources and prompts of its own, and a real client at the other end of a real socket. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { AuditEntry } from '#lib/audit.ts';
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { integer, object, text } from '#protocol/shape.ts';
import { createRates } from '#relay/create-rates.ts';
import { socketPair } from '../../test/support/socket-pair.ts';
import { LineTransport } from './line-transport.ts';
import type { Offer } from './operator-methods.ts';
import type { Prompt } from './prompt.ts';
import type { Resource } from './resource.ts';
import { createSessions } from './sessions.ts';
import { type Caller, defineTool, type Tool } from './tool.ts';

export const ADMIN: Caller = { user: 'admin', role: 'admin' };
export const VIEWER: Caller = { user: 'eve', role: 'viewer' };

const said = object({ said: text });
const usual = { title: 'Test', description: 'For tests.', category: 'default', isReadOnly: true } as const;
const nothing = object({});
const words = object({ team: text }, { count: integer({ min: 1, max: 9 }) });

/** What the tools wait for, and what they saw. */
export interface Stage {
  readonly aborted: string[];
  readonly begun: string[];
  /** Lets `steps` come to its end. */
  readonly release: () => void;
  readonly released: Promise<void>;
}

export function newStage(): Stage {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { aborted: [], begun: [], release, released };
}

export function toolsOn(stage: Stage): readonly Tool[] {
  const endless =
    (name: string) =>
    (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        stage.begun.push(name);
        signal.addEventListener('abort', () => {
          stage.aborted.push(name);
          reject(signal.reason);
        });
      });
  return [
    defineTool({
      ...usual,
      name: 'say',
      input: words,
      output: said,
      resource: ({ team }) => `team/${team}`,
      run: async ({ team }) => ({ said: team }),
    }),
    defineTool({ ...usual, name: 'quote', quotesOthers: true, input: nothing, output: said, run: async () => ({ said: 'do as I say' }) }),
    defineTool({ ...usual, name: 'change', isReadOnly: false, input: nothing, output: said, run: async () => ({ said: 'changed' }) }),
    defineTool({ ...usual, name: 'peek', needsAdmin: true, input: nothing, output: said, run: async () => ({ said: 'seen' }) }),
    defineTool({ ...usual, name: 'endless', input: nothing, output: said, run: endless('endless') }),
    defineTool({ ...usual, name: 'short', deadlineMs: 20, input: nothing, output: said, run: endless('short') }),
    defineTool({
      ...usual,
      name: 'steps',
      input: nothing,
      output: said,
      async run(_, { progress }) {
        for (const count of [1, 2, 3]) progress(`step ${count}`, { of: 3, count });
        await stage.released;
        return { said: 'done' };
      },
    }),
    defineTool({
      ...usual,
      name: 'refuse',
      input: nothing,
      output: said,
      run: () => Promise.reject(new AgentisoError('Conflict', 'in use at /secret/home/x', { hint: 'wait' })),
    }),
    defineTool({
      ...usual,
      name: 'crash',
      input: nothing,
      output: said,
      run: () => Promise.reject(new TypeError('at /secret/home/src/x.ts')),
    }),
  ];
}

export const notes: Resource = {
  uriTemplate: 'test://notes/{name}',
  name: 'notes',
  title: 'Notes',
  description: 'For tests.',
  mimeType: 'text/plain',
  list: async () =>
    Array.from({ length: 150 }, (_, index) => `n${String(index).padStart(3, '0')}`).map((name) => ({
      uri: `test://notes/${name}`,
      name,
      mimeType: 'text/plain',
    })),
  async read({ name = '' }) {
    if (!name.startsWith('n')) throw new NotFoundError(`there is no note ${name}`);
    return `text of ${name}`;
  },
  async *changes({ name = '' }, { signal }) {
    if (!name.startsWith('n')) throw new NotFoundError(`there is no note ${name}`);
    yield;
    yield;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  },
  complete: async (_, typed, _asking, known) => [`${typed}1`, ...Object.values(known)],
};

export const greeting: Prompt = {
  name: 'greet',
  title: 'Greet',
  description: 'For tests.',
  arguments: [
    { name: 'who', description: 'whom to greet', required: true },
    { name: 'how', description: 'in which words', required: false },
  ],
  render: async ({ who, how = 'Hello' }) => `${how}, ${who}`,
};

export async function openStand(caller: Caller = ADMIN, given: Partial<Offer> = {}) {
  const stage = newStage();
  const calls: AuditEntry[] = [];
  const sessions = createSessions({
    version: '1.2.3',
    log: silentLogger,
    homes: ['/secret/home'],
    rates: createRates(),
    audit: { record: (entry) => void calls.push(entry) },
    workspaces: {} as never,
    tools: toolsOn(stage),
    resources: [notes],
    prompts: [greeting],
    ...given,
  });
  const pair = await socketPair();
  const closed: string[] = [];
  const connection = {
    name: 'none',
    request: () => Promise.reject(new Error('nobody is asked')),
    close: () => void closed.push('connection'),
  };
  await sessions.openOperator(new LineTransport(pair.far), caller, connection, () => void closed.push('session'));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new LineTransport(pair.near));
  return { client, stage, calls, closed, sessions, pair };
}

/** The refusal in a result. */
export function errorIn(result: object): Record<string, unknown> {
  const { content, isError } = result as { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean };
  if (isError !== true) throw new Error(`no refusal: ${JSON.stringify(result)}`);
  return (JSON.parse(content[0]?.text ?? '{}') as { readonly error: Record<string, unknown> }).error;
}
