/** What a daemon started by this user on this machine would find for its agents. Tries for real and leaves nothing. */
import type { IsolationHere } from '#cli/command.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { probeNetwork } from '#network/probe.ts';

export async function inspectIsolation(): Promise<IsolationHere> {
  const [{ mode, reason, limits }, probe] = await Promise.all([detectSandbox(), probeNetwork()]);
  return {
    sandbox: { mode, reason, limits },
    network: { mode: 'tools' in probe ? 'nftables' : 'proxy-only', reason: probe.reason },
  };
}

export { findVsock } from '#drivers/vm/vsock.ts';
