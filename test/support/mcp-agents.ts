/** Programs in workspaces that speak MCP, started from a test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect } from 'vitest';
import type { AgentsHome } from './agents-home.ts';

/** A call: its tool and, beside the name, its arguments. */
export type InsideStep = 'list' | 'cancel a wait' | { readonly name: string; readonly [argument: string]: unknown };

export interface InsideRun {
  /** How it reaches its agent's server; by `team mcp` when absent. `settings`: as the files in its home say. */
  readonly over?: 'http' | 'http-without-token' | 'settings';
  readonly steps: readonly InsideStep[];
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool, looked at by assertions
type Any = any;

export class McpAgents {
  readonly #home: AgentsHome;
  /** Everything that any agent was told. */
  readonly told: string[] = [];

  constructor(home: AgentsHome) {
    this.#home = home;
  }

  /** Puts the program into the workspaces of these agents. */
  async install(agents: readonly string[]): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'agentiso-inside-'));
    try {
      const outfile = join(folder, 'inside.cjs');
      const entry = join(import.meta.dirname, 'mcp-inside.ts');
      await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', minify: true, logLevel: 'error' });
      const copied = await Promise.all(agents.map((agent) => this.#home.cli('cp', outfile, `${agent}:inside.cjs`)));
      for (const each of copied) expect(each).toMatchObject({ code: 0, stderr: '' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async try(agent: string, run: InsideRun): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const result = await this.#home.startCli('exec', agent, '--', 'node', 'inside.cjs', JSON.stringify(run)).result;
    this.told.push(result.stdout, result.stderr);
    return result;
  }

  /** What each step gave: of a call what it answered, or the error that it was refused with. */
  async run(agent: string, ...steps: readonly InsideStep[]): Promise<Any[]> {
    return this.over(agent, { steps });
  }

  async over(agent: string, run: InsideRun): Promise<Any[]> {
    const { code, stdout, stderr } = await this.try(agent, run);
    expect([code, stderr], stdout).toEqual([0, '']);
    return (JSON.parse(stdout) as Any[]).map(toAnswer);
  }
}

function toAnswer(result: Any): Any {
  if (result.isError) return JSON.parse(result.content[0].text);
  return result.structuredContent === undefined ? result : { ...result.structuredContent, tookMs: result.tookMs };
}
