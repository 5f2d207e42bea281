/**
 * Makes a virtual machine that has just started, or was just copied from another, this agent's own: in one step, before anything of the agent
 * runs. Fresh randomness comes first: until then all copies of one machine would draw the same.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import type { MachineParams } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { lazy } from '../lazy-modules.ts';
import { linkLines, SET_UP_SCRIPT, WARM_UP_SCRIPT } from './script.ts';

const SET_UP_MS = 30_000;
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

export interface MachinePlaces {
  readonly workspace: string;
  readonly stateDir: string;
  readonly home: string | undefined;
}

/** Rejects with ProtocolError, saying which step failed. */
export async function setUpMachine(hostname: string, machine: MachineParams, places: MachinePlaces): Promise<void> {
  const { seed, timeMs, disk, link, tools } = machine;
  await runScript({
    PATH,
    SEED: seed,
    TIME_MS: String(timeMs),
    DISK: disk ?? '',
    TOOLS_DISK: tools?.disk ?? '',
    TOOLS: tools?.place ?? '',
    WORKSPACE: places.workspace,
    STATE: places.stateDir,
    AGENT_HOME: places.home ?? '',
    LINK: link === undefined ? '' : linkLines(link).join('\n'),
  });
  try {
    writeFileSync('/proc/sys/kernel/hostname', hostname);
    writeFileSync('/etc/hostname', `${hostname}\n`);
    appendFileSync('/etc/hosts', `127.0.1.1 ${hostname}\n`);
  } catch (error) {
    throw failed('host name', (error as Error).message);
  }
}

/** Everything that is needed later is read from the disk now; nothing is changed. Whether it works is seen later. */
export async function warmUp(): Promise<void> {
  await runScript({ PATH }, WARM_UP_SCRIPT).catch(() => {});
}

function runScript(env: Record<string, string>, script = SET_UP_SCRIPT): Promise<void> {
  return new Promise((resolve, reject) => {
    lazy.childProcess.execFile('perl', ['-e', script], { env, timeout: SET_UP_MS }, (error, _stdout, stderr) => {
      if (error === null) return resolve();
      // The script says which step it is at before it begins with it.
      const lines = stderr.trim().split('\n');
      const step = lines.findLast((line) => line.startsWith('step: '))?.slice('step: '.length) ?? 'start';
      const complaint = lines.filter((line) => !line.startsWith('step: ')).join('; ') || error.message;
      reject(failed(step, complaint));
    });
  });
}

function failed(step: string, complaint: string): ProtocolError {
  return new ProtocolError('Unavailable', `the machine could not be set up: ${step}: ${complaint}`);
}
