/** Agents of a team whose program (`mcp-member.ts`) a test tells what to do next, each by one long command in its workspace. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { expect } from 'vitest';
import { runCli } from './cli.ts';
import type { MemberOrder } from './mcp-member.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');
/** For the .gitignore of the repository that the workspaces are copies of. */
export const MEMBER_FILE = 'member.cjs';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool, looked at by assertions
type Any = any;

interface Waiting {
  readonly resolve: (result: Any) => void;
  readonly reject: (error: Error) => void;
}

export interface Call {
  readonly answer: Promise<Any>;
  cancel(): void;
}

export class McpMember {
  readonly name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  /** Everything that it was told. */
  readonly told: string[] = [];
  #lastId = 0;

  private constructor(name: string, child: ChildProcessWithoutNullStreams) {
    this.name = name;
    this.#child = child;
    child.stdin.on('error', () => {});
    createInterface({ input: child.stdout }).on('line', (line) => this.#answered(line));
    child.stderr.setEncoding('utf8').on('data', (text: string) => void this.told.push(text));
    this.#ended = new Promise((resolve) => {
      child.on('close', () => {
        for (const { reject } of this.#waiting.values()) reject(new Error(`${name} has ended: ${this.told.slice(-2).join('')}`));
        resolve();
      });
    });
  }

  /** Resolves when its client has found its server. */
  static async start(home: string, name: string): Promise<McpMember> {
    const argv = [PROGRAM, 'exec', '--home', home, '-i', name, '--', 'node', MEMBER_FILE];
    const member = new McpMember(name, spawn(process.execPath, argv, { stdio: 'pipe' }));
    await member.#await(0);
    return member;
  }

  list(): Promise<Any> {
    return this.#order({}).answer;
  }

  /** What a tool answered, or the error that it refused with. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<Any> {
    return this.begin(name, args).answer;
  }

  begin(name: string, args: Record<string, unknown> = {}): Call {
    const { answer, id } = this.#order({ tool: { name, arguments: args } });
    return {
      answer: answer.then((result) => (result.isError ? JSON.parse(result.content[0].text) : result.structuredContent)),
      cancel: () => void this.#order({ cancel: id }).answer.catch(() => {}),
    };
  }

  /** Its own work in the workspace; what was printed. */
  async run(command: string): Promise<string> {
    const result = await this.#order({ command }).answer;
    expect(result, command).toMatchObject({ code: 0 });
    return result.stdout;
  }

  /** Its input ends, and so does it. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }

  #order(order: Omit<MemberOrder, 'id'>): { readonly id: number; readonly answer: Promise<Any> } {
    const id = ++this.#lastId;
    const answer = this.#await(id);
    this.#child.stdin.write(`${JSON.stringify({ id, ...order })}\n`);
    return { id, answer };
  }

  #await(id: number): Promise<Any> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #answered(line: string): void {
    this.told.push(line);
    const { id, result, error } = JSON.parse(line) as { id: number; result?: Any; error?: string };
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error));
  }
}

/** Puts the program into the workspaces of these agents, and starts it there. */
export async function startMembers(home: string, names: readonly string[]): Promise<McpMember[]> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-member-'));
  try {
    const outfile = join(folder, MEMBER_FILE);
    const entry = join(import.meta.dirname, 'mcp-member.ts');
    await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', minify: true, logLevel: 'error' });
    const copied = await Promise.all(names.map((name) => runCli(['cp', '--home', home, outfile, `${name}:${MEMBER_FILE}`])));
    for (const each of copied) expect(each).toMatchObject({ code: 0, stderr: '' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return Promise.all(names.map((name) => McpMember.start(home, name)));
}
