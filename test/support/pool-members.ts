/** The sandboxes that a daemon has started ahead, by what is in its home. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { type AgentsHome, WAIT } from './agents-home.ts';

const SOCKETS = ['control.sock', 'relay.sock'];
const folderOf = ({ home }: AgentsHome) => join(home, 'state', 'workspaces', 'sandbox');

/** Names of their folders. */
export function membersIn(home: AgentsHome): string[] {
  return readdirSync(folderOf(home)).filter((name) => name.startsWith('.pool-'));
}

/** Waits until there are so many, and all of them listen. */
export async function poolHas(home: AgentsHome, count: number): Promise<void> {
  await vi.waitFor(() => {
    const runs = membersIn(home).map((name) => join(folderOf(home), name, 'run'));
    expect(runs.map((run) => (existsSync(run) ? readdirSync(run) : []))).toEqual(Array.from({ length: count }, () => SOCKETS));
  }, WAIT);
}
