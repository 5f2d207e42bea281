/** A network namespace for tests of rules: it lives as long as a process that waits in it, and nothing in it concerns the machine. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { vi } from 'vitest';
import { findTools, type Tools } from './tools.ts';

export interface RouterFixture {
  readonly tools: Tools;
  readonly namespace: string;
  /** Somebody else's nft; its output. */
  nft(...args: string[]): string;
  close(): Promise<void>;
}

/** Empty when rules can be made here, else why not. */
export function missingForRules(): string {
  const { tools, missing } = findTools();
  if (!tools) return `not installed: ${missing.join(', ')}`;
  const { status, stderr } = spawnSync(tools.unshare, ['--net', '--', tools.nft, 'list', 'ruleset'], { encoding: 'utf8' });
  return status === 0 ? '' : `no private network namespace with nft: ${stderr.trim()}`;
}

export async function makeRouter(): Promise<RouterFixture> {
  const { tools } = findTools();
  if (!tools) throw new Error('no tools');
  const child = spawn(tools.unshare, ['--net', '--', 'cat'], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(child, 'close');
  const namespace = `/proc/${child.pid}/ns/net`;
  await vi.waitFor(() => {
    if (readlinkSync(namespace) === readlinkSync('/proc/self/ns/net')) throw new Error('not yet in its namespace');
  });
  return {
    tools,
    namespace,
    nft(...args) {
      const { status, stdout, stderr } = spawnSync(tools.nsenter, [`--net=${namespace}`, '--', tools.nft, ...args], { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return stdout;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
