/** The guest agent: started by a driver inside the workspace, lives exactly as long as the driver's end of its stdin. */
import { realpathSync } from 'node:fs';
import { inheritedEnv } from './command-env.ts';
import type { Guest } from './guest.ts';
import { type GuestOptions, parseOptions } from './options.ts';
import { ProcessGroups } from './process-group.ts';
import { listen } from './server.ts';

/** Shorter than what a driver waits between SIGTERM and SIGKILL: a guest that is killed leaves its commands behind. */
const STOP_GRACE_MS = 2_000;

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const guest = createGuest(options);
  process.once('SIGTERM', () => guest.stop('SIGTERM'));
  process.once('SIGINT', () => guest.stop('SIGINT'));
  // Ends with the driver's process, however that one ends.
  process.stdin.once('close', () => guest.stop('the host is gone'));
  process.stdin.on('error', () => guest.stop('the host is gone'));
  process.stdin.resume();
  // Whoever started this may be gone before it reads a line.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});

  await listen(guest, options.socketPath);
  report(`guest ${guest.id} incarnation ${guest.incarnation} is listening`);
  process.stdout.write('listening\n');
}

function createGuest({ id, incarnation, workspace }: GuestOptions): Guest {
  const root = realpathSync(workspace);
  const groups = new ProcessGroups();
  const stop = async (reason: string) => {
    if (groups.isClosed) return;
    report(`stopping: ${reason}`);
    await groups.close(STOP_GRACE_MS);
    process.exit(0);
  };
  return {
    id,
    incarnation,
    root,
    baseEnv: { ...inheritedEnv(process.env), AGENTISO_WORKSPACE: root },
    groups,
    stop: (reason) => void stop(reason),
  };
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

main().catch((error: unknown) => {
  report(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
});
