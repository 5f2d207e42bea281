import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { rethrow } from '#guest/handshake.ts';
import type { Session } from '#guest/sessions.ts';
import { silentLogger } from '#lib/log.ts';
import { Channel } from '#protocol/channel.ts';
import { type ControlHandlers, control, type TaskResult } from '#protocol/control.ts';
import { artifactHandlers } from '../../../guest-agent/tasks/artifact-handlers.ts';
import { bench, newTask } from '../../../test/support/controllers.ts';
import { type SocketPair, socketPair } from '../../../test/support/socket-pair.ts';
import { createArtifactDesk } from '../desks/artifact-desk.ts';
import { type Artifacts, createArtifacts } from './artifacts.ts';

let home: string;
let stateDir: string;
let pair: SocketPair;
let session: Pick<Session, 'open'>;
let world: ReturnType<typeof bench>;
let artifacts: Artifacts;

/** A guest's real handler behind a real connection. */
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-host-artifacts-'));
  stateDir = join(home, 'guest');
  mkdirSync(join(stateDir, 'artifacts'), { recursive: true });
  world = bench();
  artifacts = createArtifacts({ home, client: world.client, events: world.ctx.events, log: silentLogger, maxTeamBytes: 3_000_000 });
  await connect(artifactHandlers({ stateDir }));
});

async function connect(handlers: Pick<ControlHandlers, 'artifactRead'>): Promise<void> {
  pair = await socketPair();
  new Channel(pair.far, { outgoing: {}, incoming: control, handlers: handlers as ControlHandlers });
  const channel = new Channel(pair.near, { outgoing: control });
  session = {
    open(method, params, options) {
      const call = channel.open(method, params, options);
      return { ...call, result: call.result.catch(rethrow) } as typeof call;
    },
  };
}

afterEach(() => {
  pair.destroy();
  rmSync(home, { recursive: true, force: true });
});

function guestKept(task: Task, attempt: number, stdout: Buffer, more: Partial<TaskResult> = {}): TaskResult {
  writeFileSync(join(stateDir, 'artifacts', `${task.metadata.uid}-${attempt}.out`), stdout);
  const { uid: taskUid, name: taskName } = task.metadata;
  const nothing = { isLost: false, exitCode: 0, stdout: '', stderr: '', stdoutTruncated: true, stderrTruncated: false, timedOut: false };
  const sizeBytes = stdout.length;
  return { taskUid, taskName, attempt, fencingToken: 1, elapsedMs: 1, ...nothing, artifacts: [{ name: 'stdout', sizeBytes }], ...more };
}

const folderOf = (task: string) => join(home, 'artifacts/default/a', task);
const create = (name: string) => world.client.create<Task>(newTask(name));

describe('an output', () => {
  it('is fetched whole, listed, and given to who asks for it', async () => {
    const task = await create('a-one');
    const bytes = randomBytes(2_500_001);
    const kept = await artifacts.keep(task, guestKept(task, 1, bytes), session);
    expect(kept).toEqual([{ name: 'stdout.log', path: 'a-one/1/stdout.log', sizeBytes: bytes.length }]);
    expect(readFileSync(join(folderOf('a-one'), '1/stdout.log')).equals(bytes)).toBe(true);
    const found = await artifacts.open({ namespace: 'default', task: 'a-one', attempt: 1, name: 'stdout.log' });
    expect(found?.sizeBytes).toBe(bytes.length);
    if (found) expect((await buffer(found.content)).equals(bytes)).toBe(true);
    expect(await artifacts.open({ namespace: 'default', task: 'a-one', attempt: 2, name: 'stdout.log' })).toBeUndefined();
    expect(await artifacts.open({ namespace: 'default', task: 'a-one', attempt: 1, name: '../../.uid' })).toBeUndefined();
    await expect(artifacts.open({ namespace: '..', task: 'a-one', attempt: 1, name: 'stdout.log' })).resolves.toBeUndefined();
  });

  it('that small results have whole needs no second copy', async () => {
    const task = await create('a-one');
    const { artifacts: _none, ...small } = guestKept(task, 1, Buffer.from('x'));
    expect(await artifacts.keep(task, small, session)).toEqual([]);
    expect(existsSync(join(home, 'artifacts'))).toBe(false);
  });

  it('whose connection breaks leaves nothing half, and is fetched again from the beginning', async () => {
    const task = await create('a-one');
    const bytes = randomBytes(2_000_000);
    const result = guestKept(task, 1, bytes);
    pair.destroy();
    await connect({
      async artifactRead(_params, { down }) {
        await new Promise((resolve) => down.content.write(bytes.subarray(0, 200_000), resolve));
        pair.destroy();
        return { sizeBytes: bytes.length };
      },
    });
    await expect(artifacts.keep(task, result, session)).rejects.toMatchObject({ code: 'Unavailable' });
    expect(readdirSync(join(folderOf('a-one'), '1'))).toEqual([]);
    await connect(artifactHandlers({ stateDir }));
    await artifacts.keep(task, result, session);
    await artifacts.keep(task, result, session);
    expect(readdirSync(join(folderOf('a-one'), '1'))).toEqual(['stdout.log']);
    expect(readFileSync(join(folderOf('a-one'), '1/stdout.log')).equals(bytes)).toBe(true);
  });

  it('that a process before this one has begun to write is written anew', async () => {
    const task = await create('a-one');
    const result = guestKept(task, 1, Buffer.from('whole'));
    mkdirSync(join(folderOf('a-one'), '1'), { recursive: true });
    writeFileSync(join(folderOf('a-one'), '.uid'), task.metadata.uid);
    writeFileSync(join(folderOf('a-one'), '1/stdout.log.new'), 'this was longer than it is now');
    await artifacts.keep(task, result, session);
    expect(readFileSync(join(folderOf('a-one'), '1/stdout.log'), 'utf8')).toBe('whole');
    expect(readdirSync(join(folderOf('a-one'), '1'))).toEqual(['stdout.log']);
  });

  it('that the guest does not have, or has without end, costs the artifact and not the result', async () => {
    const task = await create('a-one');
    const result = guestKept(task, 1, Buffer.from('x'));
    rmSync(join(stateDir, 'artifacts'), { recursive: true });
    expect(await artifacts.keep(task, result, session)).toEqual([]);
    pair.destroy();
    await connect({
      async artifactRead(_params, { down, signal }) {
        const chunk = Buffer.alloc(1_000_000);
        while (!signal.aborted && !down.content.destroyed) await new Promise((resolve) => down.content.write(chunk, resolve));
        return { sizeBytes: 1 };
      },
    });
    expect(await artifacts.keep(task, result, session)).toEqual([]);
    expect(readdirSync(join(folderOf('a-one'), '1'))).toEqual([]);
  });
});

describe('artifacts of a team', () => {
  it('go with their task, and only with that one', async () => {
    const [one, two] = [await create('a-one'), await create('a-two')];
    for (const task of [one, two]) await artifacts.keep(task, guestKept(task, 1, Buffer.from('x')), session);
    const namesake = { ...one, metadata: { ...one.metadata, uid: 'another' } };
    await artifacts.removeTask(namesake);
    expect(readdirSync(join(home, 'artifacts/default/a'))).toEqual(['a-one', 'a-two']);
    await artifacts.removeTask(one);
    await artifacts.removeTask(one);
    expect(readdirSync(join(home, 'artifacts/default/a'))).toEqual(['a-two']);
    await artifacts.removeTeam({ namespace: 'default', name: 'a' });
    expect(readdirSync(join(home, 'artifacts/default'))).toEqual([]);
  });

  it('are not taken for those of a later task of the same name', async () => {
    const first = await create('a-one');
    await artifacts.keep(first, guestKept(first, 1, Buffer.from('first')), session);
    await world.client.delete({ kind: 'Task', namespace: 'default', name: 'a-one' });
    const second = await create('a-one');
    expect(await artifacts.open({ namespace: 'default', task: 'a-one', attempt: 1, name: 'stdout.log' })).toBeUndefined();
    await artifacts.keep(second, guestKept(second, 2, Buffer.from('second')), session);
    expect(readdirSync(folderOf('a-one'))).toEqual(['.uid', '2']);
  });

  it('whose task is gone are swept, by its uid; what is none of ours stays', async () => {
    const [one, two] = [await create('a-one'), await create('a-two')];
    for (const task of [one, two]) await artifacts.keep(task, guestKept(task, 1, Buffer.from('x')), session);
    mkdirSync(folderOf('not-ours'));
    await world.client.delete({ kind: 'Task', namespace: 'default', name: 'a-one' });
    await artifacts.sweep();
    expect(readdirSync(join(home, 'artifacts/default/a'))).toEqual(['a-two', 'not-ours']);
  });

  it('go when there are too many, the oldest first, and an event says so', async () => {
    const task = await create('a-one');
    for (const attempt of [1, 2, 3, 4]) {
      await artifacts.keep(task, guestKept(task, attempt, Buffer.alloc(1_000_000)), session);
      const path = join(folderOf('a-one'), `${attempt}/stdout.log`);
      utimesSync(path, attempt, attempt);
    }
    expect(readdirSync(folderOf('a-one'))).toEqual(['.uid', '2', '3', '4']);
    expect(world.ctx.recorded).toMatchObject([
      { object: 'a-one', reason: 'ArtifactPruned', message: expect.stringContaining('attempt 1 of task a-one, 1000000 bytes') },
    ]);
  });
});

describe('the desk', () => {
  const ask = (path: string, query = '', method = 'GET') => {
    const request = {
      method,
      path,
      query: new URLSearchParams(query),
      contentType: undefined,
      identity: {},
      signal: new AbortController().signal,
    };
    return createArtifactDesk({ ...artifacts, live: async () => undefined }).answer(request as never);
  };

  it('gives bytes as they are, and as lines of base64', async () => {
    const task = await create('a-one');
    const bytes = randomBytes(200_000);
    await artifacts.keep(task, guestKept(task, 1, bytes), session);
    const plain = await ask('default/a-one/1/stdout.log');
    if (!('bytes' in plain)) throw new Error('no stream');
    expect((await buffer(plain.bytes)).equals(bytes)).toBe(true);
    const encoded = await ask('default/a-one/1/stdout.log', 'encoding=base64');
    if (!('lines' in encoded)) throw new Error('no lines');
    const pieces: Buffer[] = [];
    for await (const line of encoded.lines) pieces.push(Buffer.from(String(line), 'base64'));
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });

  it.each([
    ['default/a-one/1/stderr.log', 'NotFound'],
    ['default/a-none/1/stdout.log', 'NotFound'],
    ['default/a-one/1/.uid', 'Invalid'],
    ['default/a-one/x/stdout.log', 'Invalid'],
    ['default/a-one', 'Invalid'],
  ])('refuses %s', async (path, code) => {
    const task = await create('a-one');
    await artifacts.keep(task, guestKept(task, 1, Buffer.from('x')), session);
    await expect(ask(path)).rejects.toMatchObject({ code });
  });

  it('takes nothing', async () => {
    await expect(ask('default/a-one/1/stdout.log', '', 'PUT')).rejects.toMatchObject({ code: 'Invalid' });
  });
});
