/** A real guest agent in its own process, outside of any driver, with a client connected to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectGuest, type GuestClient } from '#guest/client.ts';
import { readProcessIdentity } from '#lib/process-identity.ts';

export interface RunningGuest {
  readonly child: ChildProcess;
  readonly client: GuestClient;
  readonly workspace: string;
  readonly socketPath: string;
  connectAgain(): Promise<GuestClient>;
  stop(): Promise<void>;
}

export const GUEST_ID = { id: 'guest-under-test', incarnation: 'incarnation-1' };

export async function startGuestProcess(bundlePath: string): Promise<RunningGuest> {
  const directory = await mkdtemp(join(tmpdir(), 'agentiso-guest-'));
  const workspace = join(directory, 'workspace');
  const socketPath = join(directory, 'guest.sock');
  await mkdir(workspace);
  const args = ['--socket', socketPath, '--id', GUEST_ID.id, '--incarnation', GUEST_ID.incarnation, '--workspace', workspace];
  const child = spawn(process.execPath, [bundlePath, ...args], { stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const connectAgain = () => connectGuest(connect(socketPath), GUEST_ID);
  const client = await connectAgain();
  const stop = async () => {
    child.stdin.end();
    await exited;
    client.close('the test is over');
    await rm(directory, { recursive: true, force: true });
  };
  return { child, client, workspace, socketPath, connectAgain, stop };
}

/** A process that ended and is not reaped yet counts as gone. */
export function isPidAlive(pid: number): boolean {
  return readProcessIdentity(pid) !== undefined;
}
