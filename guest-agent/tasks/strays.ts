/**
 * What an attempt has started and what has left its process group (setsid): nothing but its environment tells whose it is. It is looked for when
 * the attempt is cut off, because the next one may begin then; what one that ends by itself leaves, a server for others, stays.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const MARKS = ['AGENTISO_WORKSPACE', 'AGENTISO_TASK', 'AGENTISO_ATTEMPT'];
const LOOK_MS = 20;
/** Who forks faster than it is found goes with the workspace. */
const MAX_LOOKS = 100;

/** Resolves when none is left. `env` is what the attempt was started with. */
export async function endStrays(env: Readonly<Record<string, string>>): Promise<void> {
  const marks = MARKS.flatMap((name) => (env[name] === undefined ? [] : [`${name}=${env[name]}`]));
  if (marks.length < MARKS.length) return;
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const strays = findStrays(marks);
    if (strays.length === 0) return;
    for (const pid of strays) kill(pid);
    await delay(LOOK_MS);
  }
}

function findStrays(marks: readonly string[]): number[] {
  const pids = readdirSync('/proc').flatMap((name) => (/^[1-9]\d*$/.test(name) ? [Number(name)] : []));
  return pids.filter((pid) => {
    const environment = new Set(readEnvironment(pid).split('\0'));
    return marks.every((mark) => environment.has(mark));
  });
}

/** Empty for one that has ended, and for those of other users, which were not started from here. */
function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
