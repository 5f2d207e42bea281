/** The public conformance suite of MCP, as its own program: what it has, and what it says of a server. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SUITE = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const ARGV = ['--import', join(import.meta.dirname, 'glob-sync.mjs'), SUITE];
const TIMEOUT_MS = 100_000;
const run = promisify(execFile);

export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  readonly errorMessage?: string;
}

/** The names of all scenarios for servers. */
export async function serverScenarios(): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, [...ARGV, 'list', '--server'], { timeout: TIMEOUT_MS });
  return [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
}

/** Runs every scenario against the server at this address; what was checked, by scenario. */
export async function runSuite(url: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-conformance-'));
  try {
    const argv = [...ARGV, 'server', '--url', url, '--suite', 'all', '--output-dir', folder];
    // It ends with a failure when one scenario fails: which of them may is not its business.
    await run(process.execPath, argv, { cwd: folder, timeout: TIMEOUT_MS, maxBuffer: 1 << 26 }).catch(() => {});
    return new Map(readdirSync(folder).map((name) => [scenarioOf(name), checksIn(join(folder, name))]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `server-ping-2026-01-02T03-04-05-678Z` */
function scenarioOf(name: string): string {
  return name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
}

function checksIn(folder: string): readonly Check[] {
  return JSON.parse(readFileSync(join(folder, 'checks.json'), 'utf8')) as Check[];
}
