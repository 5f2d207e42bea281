import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { rethrow } from '#guest/handshake.ts';
import type { Session } from '#guest/sessions.ts';
import { Channel } from '#protocol/channel.ts';
import { type ControlHandlers, control } from '#protocol/control.ts';
import { artifactHandlers } from '../../../guest-agent/tasks/artifact-handlers.ts';
import { type SocketPair, socketPair } from '../../../test/support/socket-pair.ts';
import { type LiveTranscriptsOptions, liveTranscripts } from './live-transcripts.ts';

const TASK = { kind: 'Task', metadata: { uid: 'task-uid' }, status: { phase: 'Running', owner: 'a-one', attempt: 1 } } as Task;
const AGENT = { kind: 'Agent', metadata: { uid: 'agent-uid' } } as Agent;
const PLACE = { namespace: 'default', task: 'a-one', attempt: 1, name: 'transcript.jsonl' };

let stateDir: string;
let pair: SocketPair;
let live: ReturnType<typeof liveTranscripts>;

/** A guest's real handler behind a real connection. */
beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'agentiso-live-'));
  mkdirSync(join(stateDir, 'artifacts'));
  pair = await socketPair();
  new Channel(pair.far, { outgoing: {}, incoming: control, handlers: artifactHandlers({ stateDir }) as ControlHandlers });
  const channel = new Channel(pair.near, { outgoing: control });
  const open: Session['open'] = (method, params, options) => {
    const call = channel.open(method, params, options);
    return { ...call, result: call.result.catch(rethrow) } as typeof call;
  };
  const session = { state: { isControlOpen: true }, open } as Session;
  const client = { get: async ({ kind }: { kind: string }) => (kind === 'Task' ? TASK : AGENT) };
  live = liveTranscripts({ client, sessions: { get: () => session } } as unknown as LiveTranscriptsOptions);
});

afterEach(() => {
  pair.destroy();
  rmSync(stateDir, { recursive: true, force: true });
});

const said = async () => {
  const content = await live(PLACE);
  return content && String(await buffer(content));
};

it('gives what there is so far', async () => {
  writeFileSync(join(stateDir, 'artifacts', 'task-uid-1.jsonl'), 'one\n');
  expect(await said()).toBe('one\n');
});

it('is empty where the agent has said nothing yet', async () => {
  expect(await said()).toBe('');
});

it('says before the first word that the guest cannot be asked', async () => {
  pair.destroy();
  await expect(live(PLACE)).rejects.toMatchObject({ code: 'Unavailable' });
});
