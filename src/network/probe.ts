/** Whether this process may make links and rules: tried in a namespace that dies with the try. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { messageOf } from '#lib/errors.ts';
import { NAMESPACE_DIRECTORY } from './namespaces.ts';
import { readRules } from './read-back.ts';
import { NO_ELEMENTS, renderRuleset, TABLE } from './ruleset.ts';
import { run } from './run.ts';
import { findTools, type Tools } from './tools.ts';

export type Probe =
  | { readonly reason: string }
  /** `shape`: how this kernel and this nft list the untouched rules. */
  | { readonly reason: ''; readonly tools: Tools; readonly shape: string };

const TRIAL = `echo 1 > /proc/sys/net/ipv4/ip_forward && "$0" -f - && "$0" -j list table ${TABLE}`;

export async function probeNetwork(directories?: readonly string[]): Promise<Probe> {
  const { tools, missing } = findTools(directories);
  if (tools === undefined) return { reason: `not installed: ${missing.join(', ')} (packages iproute2, nftables, util-linux)` };
  if (process.geteuid?.() !== 0) return { reason: 'agentiso does not run as root' };
  const unusable = unusableDirectory();
  if (unusable !== undefined) return { reason: unusable };
  const trial = await tryRules(tools);
  return typeof trial === 'string' ? { reason: trial } : { reason: '', tools, shape: trial.shape };
}

function unusableDirectory(): string | undefined {
  try {
    mkdirSync(NAMESPACE_DIRECTORY, { recursive: true });
    accessSync(NAMESPACE_DIRECTORY, constants.W_OK);
    return undefined;
  } catch (error) {
    return `network namespaces cannot be named: ${messageOf(error)}`;
  }
}

async function tryRules(tools: Tools): Promise<string | { readonly shape: string }> {
  try {
    const command = [tools.unshare, '--net', '--', '/bin/sh', '-c', TRIAL, tools.nft] as const;
    const { code, stdout, stderr } = await run(command, { input: renderRuleset(NO_ELEMENTS) });
    if (code === 0) return { shape: readRules(JSON.parse(stdout)).shape };
    return `no right to make network namespaces and rules: ${stderr.trim().split('\n')[0]}`;
  } catch (error) {
    return `no right to make network namespaces and rules: ${messageOf(error)}`;
  }
}
