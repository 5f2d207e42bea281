/** A real guest agent in its own process, outside of any driver, with a control connection to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcessIdentity } from '#lib/process-identity.ts';
import { Channel } from '#protocol/channel.ts';
import { GENERATION } from '#protocol/common.ts';
import { control } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';

export type ControlChannel = Channel<typeof control>;

export interface RunningGuest {
  readonly child: ChildProcess;
  /** Greeted. With `pool: true` it is not, because the guest has no name yet. */
  readonly client: ControlChannel;
  readonly directory: string;
  readonly workspace: string;
  readonly stateDir: string;
  readonly runDir: string;
  readonly controlPath: string;
  readonly relayPath: string;
  /** What it has written to standard error so far. */
  readonly stderr: () => string;
  connectAgain(): Promise<ControlChannel>;
  /** Ends the guest and removes its files. */
  stop(): Promise<void>;
}

export interface GuestStart {
  readonly pool?: boolean;
  readonly egress?: boolean;
  /** For Node, before the bundle. */
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Of an earlier guest, whose state and workspace are used again. */
  readonly directory?: string;
}

export const GUEST_ID = { id: 'guest-under-test', incarnation: 'incarnation-1' };

export async function startGuestProcess(bundlePath: string, start: GuestStart = {}): Promise<RunningGuest> {
  const directory = start.directory ?? (await mkdtemp(join(tmpdir(), 'agentiso-guest-')));
  const [workspace, stateDir, runDir] = [join(directory, 'workspace'), join(directory, 'state'), join(directory, 'run')];
  for (const path of [workspace, stateDir, runDir]) await mkdir(path, { recursive: true });
  const child = spawn(process.execPath, [...(start.nodeArgs ?? []), bundlePath, ...guestArgs(directory, start)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...start.env },
  });
  const stderr = collect(child);
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited.then(() => Promise.reject(new Error(`the guest ended: ${stderr()}`)))]);
  const controlPath = join(runDir, 'control.sock');
  const connectAgain = () => (start.pool ? Promise.resolve(openControl(controlPath)) : greetedControl(controlPath));
  const client = await connectAgain();
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    client.close(new ProtocolError('Unavailable', 'the test is over'));
    await rm(directory, { recursive: true, force: true });
  };
  const paths = { directory, workspace, stateDir, runDir, controlPath, relayPath: join(runDir, 'relay.sock') };
  return { child, client, ...paths, stderr, connectAgain, stop };
}

function guestArgs(directory: string, { pool = false, egress = false }: GuestStart): readonly string[] {
  const identity = pool ? ['--pool'] : ['--id', GUEST_ID.id, '--incarnation', GUEST_ID.incarnation];
  const places = ['run', 'state', 'workspace'].flatMap((name) => [`--${name}`, join(directory, name)]);
  return [...identity, ...places, ...(egress ? ['--egress'] : [])];
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (chunk) => {
    text += String(chunk);
  });
  return () => text;
}

export function openControl(path: string): ControlChannel {
  return new Channel(connect(path), { outgoing: control });
}

export async function greetedControl(path: string, identity = GUEST_ID): Promise<ControlChannel> {
  const channel = openControl(path);
  await channel.call('hello', { generation: GENERATION, ...identity });
  return channel;
}

/** A process that ended and is not reaped yet counts as gone. */
export function isPidAlive(pid: number): boolean {
  return readProcessIdentity(pid) !== undefined;
}
