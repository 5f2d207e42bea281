/**
 * The guest agent: started by a driver inside the workspace, reached over two sockets in its run directory. It belongs to no daemon: it
 * outlives the one that started it, and ends when it is told to, when nobody can reach it any more, or when nobody has for long.
 */
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { makeFolder } from '#lib/make-folder.ts';
import { Binding } from './binding.ts';
import { writeCrash } from './crash-log.ts';
import { watchLifetime } from './lifetime.ts';
import { Listener } from './listener.ts';
import { type GuestOptions, parseOptions, socketPath } from './options.ts';
import { PipePool } from './pipes/pipe-pool.ts';
import { ProcessGroups } from './process-group.ts';
import { report, say } from './report.ts';
import { serveControl, serveRelay } from './server.ts';

/** Shorter than what a driver waits between SIGTERM and SIGKILL: a guest that is killed leaves its commands behind. */
const STOP_GRACE_MS = 2_000;
/** For what is to be written when everything has ended. */
const STOP_WRITE_MS = 2_000;

/** Where the host comes in. */
type Door = Pick<Listener, 'connections' | 'isInPlace' | 'close'>;

interface GuestProcess {
  readonly options: GuestOptions;
  readonly groups: ProcessGroups;
  readonly binding: Binding;
  readonly listeners: Door[];
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const groups = new ProcessGroups(new PipePool(join(options.stateDir, 'pipes')));
  const listeners: Door[] = [];
  const stop = (reason: string, graceMs?: number) => void stopProcess(guestProcess, reason, graceMs);
  // Beside this program, wherever a driver has put it.
  const binDir = join(dirname(process.argv[1] ?? ''), 'bin');
  const machine = options.portsDir === undefined && !options.hasVsock ? undefined : await enterMachine();
  const bindingOptions = {
    options,
    groups,
    stop,
    binDir,
    processEnv: process.env,
    ...(machine && { setUp: machine.setUp, prepare: machine.prepare, wake: machine.wake, syncFiles: machine.syncFiles }),
  };
  const binding = new Binding(bindingOptions);
  const guestProcess: GuestProcess = { options, groups, binding, listeners };

  process.on('uncaughtException', (error) => crash(guestProcess, error));
  process.once('SIGTERM', () => stop('SIGTERM'));
  process.once('SIGINT', () => stop('SIGINT'));
  process.on('SIGHUP', () => {});

  if (options.identity !== undefined) binding.bindNow(options.identity);
  // Before anybody can come: a template is saved as soon as it answers.
  if (options.isWarm) await machine?.warmUp(bindingOptions);
  const open = (name: 'control' | 'relay', serve: typeof serveControl) => listen(options, name, (stream) => serve(binding, stream));
  listeners.push(...(await Promise.all([open('control', serveControl), open('relay', serveRelay)])));
  if (options.hasVsock) await openVsock(options);
  watchLifetime({ isReachable: () => listeners.every(({ isInPlace }) => isInPlace), isNeeded: () => isNeeded(guestProcess), stop });
  say('listening');
}

/** Loaded in virtual machines only. */
async function enterMachine(): Promise<typeof import('./machine/machine.ts')> {
  return import('./machine/machine.ts');
}

async function openVsock({ runDir }: GuestOptions): Promise<void> {
  const { HOST_ADDRESS, openBridge, vsockDoors } = await import('./ports/bridge.ts');
  await openBridge({ doors: vsockDoors((name) => socketPath(runDir, name)), host: HOST_ADDRESS, report });
}

async function listen({ runDir, portsDir }: GuestOptions, name: 'control' | 'relay', serve: (stream: Duplex) => void): Promise<Door> {
  if (portsDir === undefined) return Listener.open({ path: socketPath(runDir, name), serve, report });
  const { PortListener } = await import('./ports/port-listener.ts');
  makeFolder(runDir);
  return new PortListener({ path: join(portsDir, `agentiso.${name}`), serve, report });
}

function isNeeded({ groups, binding, listeners }: GuestProcess): boolean {
  if (listeners.some(({ connections }) => connections > 0)) return true;
  return groups.size > 0 || (binding.bound?.relay.runningTasks() ?? 0) > 0;
}

async function stopProcess({ groups, binding, listeners }: GuestProcess, reason: string, graceMs = STOP_GRACE_MS): Promise<void> {
  if (groups.isClosed) return;
  report(`stopping: ${reason}`);
  const bound = binding.bound;
  bound?.guest.log.write('guest', `stopping: ${reason}`);
  setTimeout(() => process.exit(0), graceMs + STOP_WRITE_MS).unref();
  // The relay first: what ends now has not failed by itself.
  await Promise.all([bound?.relay.close(), groups.close(graceMs)]);
  await bound?.guest.log.close();
  for (const listener of listeners) listener.close();
  // What was written last leaves this process.
  await turn();
  process.exit(0);
}

/** Nothing may be trusted any more: what runs is ended at once, and the reason written where the host finds it. */
function crash({ groups, binding, options, listeners }: GuestProcess, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  try {
    report(text);
    groups.killAll();
    for (const listener of listeners) listener.close();
    binding.bound?.guest.log.write('guest', `failed: ${text}`);
    binding.bound?.guest.log.closeNow();
    writeCrash(options.stateDir, text, new Date());
  } finally {
    process.exit(1);
  }
}

main().catch((error: unknown) => {
  report(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
});
