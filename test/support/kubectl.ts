/** Real kubectl binaries of several versions, each run with a cache and configuration of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { messageOf } from '#lib/errors.ts';
import { fetchKubectl, PINNED } from '../../scripts/fetch-kubectl.ts';

export interface KubectlBinary {
  readonly version: string;
  readonly path: string;
}

/** All versions, or why there are none: use as `requires(kubectls.ok, kubectls.reason)`. */
export const kubectls = await everyVersion();

async function everyVersion(): Promise<{ ok: boolean; reason: string; binaries: readonly KubectlBinary[] }> {
  try {
    const binaries: KubectlBinary[] = [];
    for (const pinned of PINNED) binaries.push({ version: pinned.version, path: await fetchKubectl(pinned) });
    return { ok: true, reason: '', binaries };
  } catch (error) {
    return { ok: false, reason: `kubectl cannot be fetched: ${messageOf(error)}`, binaries: [] };
  }
}

export interface KubectlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlRun {
  readonly child: ChildProcess;
  readonly result: Promise<KubectlResult>;
  /** Resolves with all that either stream said, once it says this. */
  said(text: string): Promise<string>;
}

export interface KubectlOptions {
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Kubectl {
  readonly version: string;
  start(args: readonly string[], options?: KubectlOptions): KubectlRun;
  run(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>;
  /** Throws unless it exits with 0; resolves with stdout. */
  ok(args: readonly string[], options?: KubectlOptions): Promise<string>;
  /** Throws unless it exits with this code; resolves with stderr. */
  fails(args: readonly string[], options?: KubectlOptions & { code?: number }): Promise<string>;
}

/** `folder` takes its cache; `namespace` is where everything without -n happens. */
export function kubectlFor(binary: KubectlBinary, kubeconfig: string, folder: string, namespace = 'default'): Kubectl {
  const start = (args: readonly string[], { input, env }: KubectlOptions = {}): KubectlRun => {
    const child = spawn(binary.path, [`--namespace=${namespace}`, ...args], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        // Here it keeps what an edit could not save.
        TMPDIR: folder,
        KUBECONFIG: kubeconfig,
        KUBECACHEDIR: join(folder, `cache-${binary.version}`),
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return followed(child, args, input);
  };
  const run = (args: readonly string[], options?: KubectlOptions) => start(args, options).result;
  const exits = async (code: number, args: readonly string[], options?: KubectlOptions) => {
    const result = await run(args, options);
    if (result.code === code) return result;
    throw new Error(`kubectl ${binary.version} ${args.join(' ')}: exit code ${result.code}\n${result.stdout}${result.stderr}`);
  };
  return {
    version: binary.version,
    start,
    run,
    ok: async (args, options) => (await exits(0, args, options)).stdout,
    fails: async (args, options) => (await exits(options?.code ?? 1, args, options)).stderr,
  };
}

function followed(child: ChildProcess, args: readonly string[], input: string | undefined): KubectlRun {
  const output = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (chunk: string) => {
      output[stream] += chunk;
      for (const listener of listeners) listener();
    });
  }
  // One that ends without reading everything is no failure of ours.
  child.stdin?.on('error', () => {}).end(input ?? '');
  const result = new Promise<KubectlResult>((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }));
  });
  const said = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (output.stdout.includes(text) || output.stderr.includes(text)) resolve(output.stdout + output.stderr);
      };
      listeners.add(look);
      look();
      void result.then(({ code }) =>
        reject(
          new Error(`kubectl ${args.join(' ')} ended with ${code} before saying ${JSON.stringify(text)}: ${output.stdout}${output.stderr}`),
        ),
      );
    });
  return { child, result, said };
}
