/** The session of an agent that runs, or is about to: a daemon that has just started, or a guest that is started anew, is not connected yet. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '#api/types.ts';
import type { Session, Sessions } from '#guest/sessions.ts';

/** Longer than it takes to connect or to start; shorter than whoever asks for its work may wait. */
const PATIENCE_MS = 10_000;

/** Undefined: it does not run and will not by itself, or it took too long. */
export async function awaitSession(
  agent: Agent,
  sessions: Pick<Sessions, 'get' | 'onChange'>,
  { signal, patienceMs = PATIENCE_MS }: { readonly signal: AbortSignal; readonly patienceMs?: number },
): Promise<Session | undefined> {
  const { uid } = agent.metadata;
  const find = () => {
    const session = sessions.get(uid);
    return session?.state.isControlOpen ? session : undefined;
  };
  const present = find();
  if (present || !isToRun(agent)) return present;
  const ended = new AbortController();
  const opened = new Promise<void>((resolve) => {
    const stop = sessions.onChange((id) => {
      if (id === uid && find()) resolve();
    });
    ended.signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([opened, delay(patienceMs, undefined, { signal: AbortSignal.any([signal, ended.signal]) })]);
  } finally {
    ended.abort();
  }
  return find();
}

/** Somebody starts it, if it does not run already; one that has failed, or was stopped, stays as it is. */
function isToRun({ metadata, spec, status }: Agent): boolean {
  if (metadata.deletionTimestamp !== undefined || spec.desiredState !== 'Running') return false;
  const wentWithDaemon = status?.conditions?.some(({ type, reason }) => type === 'WorkspaceReady' && reason === 'DaemonStopped');
  return wentWithDaemon || ['Starting', 'Ready', 'Working'].includes(status?.phase ?? '');
}
