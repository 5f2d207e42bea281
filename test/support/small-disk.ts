/** A daemon for whom one folder of its home is a small disk: in a mount namespace that goes with the daemon, as the disk goes with it. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { CliResult } from './cli.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/agentiso.js');
const SERVE = 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"';
const WAIT = { timeout: 60_000, interval: 100 };
const MIB = 1024 ** 2;

export interface SmallDiskOptions {
  readonly size: string;
  /** Of the home; absent: all of it. */
  readonly folder?: string;
  readonly logLevel?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export class SmallDisk {
  readonly home: string;
  readonly #disk: string;
  readonly #daemon;
  readonly #ended: Promise<unknown>;
  #said = '';

  constructor(home: string, { size, folder = '.', logLevel = 'error', env = {} }: SmallDiskOptions) {
    this.home = home;
    this.#disk = join(home, folder);
    mkdirSync(this.#disk, { recursive: true });
    const serve = [process.execPath, PROGRAM, 'serve', '--home', home, '--log-level', logLevel];
    this.#daemon = spawn('unshare', ['--mount', '--', '/bin/sh', '-c', SERVE, 'sh', size, this.#disk, ...serve], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#ended = new Promise((resolve) => this.#daemon.once('close', resolve));
    for (const stream of [this.#daemon.stdout, this.#daemon.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.#said += chunk;
      });
  }

  /** What is on the disk, from outside. */
  seen(...path: readonly string[]): string {
    return `/proc/${this.#daemon.pid}/root${join(this.#disk, ...path)}`;
  }

  async said(what: string | RegExp, wait = WAIT): Promise<void> {
    await vi.waitFor(() => expect(this.#said).toMatch(what), wait);
  }

  /** A program of this machine, where it sees what the daemon sees. */
  run([program = '', ...args]: readonly string[], input = ''): Promise<CliResult> {
    const child = spawn('nsenter', [`--target=${this.#daemon.pid}`, '--mount', '--', program, ...args], { stdio: 'pipe' });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        output[name] += chunk;
      });
    // Whoever ends without reading it has said why.
    child.stdin.on('error', () => {}).end(input);
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })));
  }

  cli(command: string, ...args: readonly string[]): Promise<CliResult> {
    return this.run([process.execPath, PROGRAM, command, '--home', this.home, ...args]);
  }

  /** When the daemon is ready. */
  async apply(manifest: string): Promise<void> {
    await this.said('agentiso ready');
    const applied = await this.run([process.execPath, PROGRAM, 'apply', '--home', this.home, '-f', '-'], manifest);
    expect(applied).toMatchObject({ code: 0 });
  }

  resize(size: string): void {
    const nsenter = [`--target=${this.#daemon.pid}`, '--mount', 'mount', '-o', `remount,size=${size}`, this.#disk];
    execFileSync('nsenter', nsenter, { stdio: 'pipe' });
  }

  /** What may still be written; what is written already stays, and may become more while this is said. */
  async leave(mib: number, wait = WAIT): Promise<void> {
    await vi.waitFor(() => {
      const { blocks, bfree, bsize } = statfsSync(this.seen());
      this.resize(String((blocks - bfree) * bsize + mib * MIB));
    }, wait);
  }

  async end(): Promise<void> {
    this.#daemon.kill('SIGTERM');
    expect(await this.#ended).toBe(0);
  }
}
