/** One member of the warm pool: a sandbox in a folder of its own that becomes a workspace's by being renamed. */
import { mkdirSync, statSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { AgentisoError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { signalProcess } from '#lib/process-identity.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { WorkspaceSpec } from '../driver.ts';
import { dialGuest } from '../local/dial.ts';
import { startGuest } from '../local/guest-process.ts';
import type { ReadyGuest } from '../local/launcher.ts';
import { socketIn, type WorkspacePaths } from '../local/paths.ts';
import { removeMember } from '../local/pool-member.ts';
import { readTree } from '../local/processes.ts';
import { sideBySide } from '../local/side-by-side.ts';
import { TOOL_PATH } from './args.ts';
import { ensureEtc, setBase } from './folder.ts';
import { LATE_OVERLAY_SCRIPT } from './launch-script.ts';
import type { PlacedMember } from './pool.ts';
import type { PreparedSandbox } from './sandbox.ts';

/** The call `bind` of the guest agent, on a connection of its own. */
export type BindGuest = (
  stream: Duplex,
  identity: { readonly id: string; readonly incarnation: string; readonly hostname: string },
  signal: AbortSignal,
) => Promise<void>;

export interface MemberStart {
  readonly paths: WorkspacePaths;
  readonly groups: readonly string[];
  readonly prepare: () => Promise<PreparedSandbox>;
  readonly bind: BindGuest;
}

export type SandboxMember = PlacedMember & ReadyGuest;

const BIND_MS = 10_000;

export async function startMember({ paths, groups, prepare, bind }: MemberStart): Promise<SandboxMember> {
  for (const path of [paths.directory, paths.run, paths.state]) mkdirSync(path, { mode: 0o700 });
  const { argv, seccompPath } = await prepare();
  let onEnd = () => {};
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  let listener = () => {
    if (guest.exit !== undefined) onEnd();
  };
  const command = { argv, cwd: '/', environment: { PATH: TOOL_PATH }, files: [seccompPath] };
  const guest = await startGuest({ incarnation: '', command, paths, onChange: () => listener() });
  return {
    guest,
    groups,
    directory: paths.directory,
    isTakenOver: false,
    get isReady() {
      return guest.isListening && guest.exit === undefined;
    },
    ended,
    isIn: (network) => isSameNamespace(network, `/proc/${guest.pid}/ns/net`),
    watch(onChange) {
      listener = onChange;
    },
    bind: (workspace, place) => bindMember(guest.pid, { workspace, place, bind }),
    async remove() {
      if (guest.identity !== undefined) signalProcess(guest.identity, 'SIGKILL');
      await removeMember(paths.directory, groups);
    },
  };
}

function isSameNamespace(...paths: readonly [string, string]): boolean {
  try {
    const [first, second] = paths.map((path) => statSync(path));
    return first?.ino === second?.ino && first?.dev === second?.dev;
  } catch {
    // One of them is gone.
    return false;
  }
}

interface Binding {
  readonly workspace: WorkspaceSpec;
  readonly place: WorkspacePaths;
  readonly bind: BindGuest;
}

async function bindMember(launcher: number, { workspace, place, bind }: Binding): Promise<void> {
  const { id, incarnation, hostname, base } = workspace;
  ensureEtc(`${place.directory}/etc`, hostname);
  const tell = async () => {
    if (base !== undefined) await mountBase(launcher, place.directory, base);
    const signal = timeLimit(BIND_MS);
    await bind(await dialGuest(socketIn(place.run, 'control'), signal), { id, incarnation, hostname }, signal);
  };
  // The guest is told its name: what the machine inside is called is for the programs that it will start.
  await sideBySide([setHostname(launcher, hostname), tell()]);
}

/** From outside: nobody inside has the right to. */
async function setHostname(launcher: number, hostname: string): Promise<void> {
  const first = readTree(launcher).find(({ namespacePids }) => namespacePids.length === 2 && namespacePids[1] === 1);
  if (first === undefined) throw new AgentisoError('Unavailable', 'the sandbox has ended', { reason: 'WorkspaceExited' });
  const script = 'printf %s "$1" > /proc/sys/kernel/hostname';
  await execute('nsenter', [`--uts=/proc/${first.pid}/ns/uts`, '--', '/bin/sh', '-c', script, 'sh', hostname], {
    env: { PATH: TOOL_PATH },
  });
}

async function mountBase(launcher: number, directory: string, base: string): Promise<void> {
  setBase(directory, base);
  await execute('nsenter', [`--mount=/proc/${launcher}/ns/mnt`, '--', '/bin/sh', '-c', LATE_OVERLAY_SCRIPT], { env: { PATH: TOOL_PATH } });
}
