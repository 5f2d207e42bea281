/** The program: turns the process (arguments, environment, signals, streams) into a command's context, and its answer into an exit code. */
import { afterClosedPipe } from '#cli/closed-pipe.ts';
import { runCli } from '#cli/index.ts';
import { isTerminalAt, openOutput } from './output.ts';
import { watchReader } from './reader.ts';

declare const AGENTISO_VERSION: string | undefined;
/** In the programs of src/cli/quick.ts. */
declare const IS_QUICK_PROGRAM: boolean | undefined;
const IS_QUICK = typeof IS_QUICK_PROGRAM === 'boolean';
const VERSION = typeof AGENTISO_VERSION === 'string' ? AGENTISO_VERSION : 'source';

const interrupted = new AbortController();
const interrupt = () => {
  // A second Ctrl-C means it.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort();
};
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);

const reloads: (() => void)[] = [];
process.on('SIGHUP', () => {
  // From a terminal it says that the terminal is gone.
  if (reloads.length === 0 || isTerminalAt(0)) interrupt();
  else for (const reload of reloads) reload();
});

// A reader that has seen enough (| head) is no failure, a full disk is one: in both cases whatever still runs comes to its end.
let lost: NodeJS.ErrnoException | undefined;
const lose = (error: NodeJS.ErrnoException) => {
  lost ??= error;
  interrupted.abort();
};
const err = openOutput(2, lose);
const out = openOutput(1, (error) => {
  if (lost === undefined && error.code !== 'EPIPE') err.write(`agentiso: cannot write to standard output: ${error.message}\n`);
  lose(error);
});

function exitCodeAfter(exitCode: number): number {
  if (lost === undefined) return exitCode;
  return lost.code === 'EPIPE' ? afterClosedPipe(process.argv.slice(2), exitCode) : 1;
}

const isTerminal = out.isTerminal && process.env['TERM'] !== 'dumb';

const run = runCli(process.argv.slice(2), {
  out: out.write,
  outBytes: out.write,
  err: err.write,
  signal: interrupted.signal,
  onlyForReader: () => watchReader(1, () => lose(Object.assign(new Error('nobody reads standard output'), { code: 'EPIPE' }))),
  onReload: (listener) => void reloads.push(listener),
  version: VERSION,
  home: process.env['AGENTISO_HOME'],
  environment: {
    cwd: process.cwd(),
    // Few commands ask, and the module that knows is not free.
    get userHome() {
      return process.env['HOME'] || process.getBuiltinModule('node:os').homedir();
    },
    kubeconfig: process.env['KUBECONFIG'],
    editor: process.env['KUBE_EDITOR'] || process.env['VISUAL'] || process.env['EDITOR'],
    externalDiff: process.env['KUBECTL_EXTERNAL_DIFF'],
    isTerminal,
    hasColour: isTerminal && !process.env['NO_COLOR'],
    columns: out.columns,
    command: process.env['AGENTISO_COMMAND'],
  },
  openBackends: async () => (await import('./daemon/attempts/open-backends.ts')).openBackends(process.env),
  async inspectCredentials(home) {
    const { credentialsHere } = await import('./daemon/settings/credentials-here.ts');
    return credentialsHere({ home, cwd: process.cwd(), variable: (name) => process.env[name] });
  },
  inspectIsolation: async () => (await import('./daemon/agents/inspect-isolation.ts')).inspectIsolation(),
  findVsock: async () => (await import('./daemon/agents/inspect-isolation.ts')).findVsock((name) => process.env[name]),
  async openImages() {
    const { imagesEnvironment, openUserImages } = await import('./user-images.ts');
    return openUserImages(imagesEnvironment((name) => process.env[name], process.cwd()));
  },
  async startDaemon(options) {
    const [{ startDaemon }, { keepHeapSmall }, { optimiseInTime }, { toolsHere }] = await Promise.all([
      import('./daemon/daemon.ts'),
      import('#runtime/heap.ts'),
      import('#lib/optimise-in-time.ts'),
      import('./daemon/attempts/open-backends.ts'),
    ]);
    keepHeapSmall();
    optimiseInTime();
    return startDaemon({
      ...options,
      version: VERSION,
      tools: toolsHere(process.env),
      hostEnv: (name) => process.env[name],
      onUnheard: (listener) => process.on('unhandledRejection', listener),
    });
  },
});
void run.then((exitCode) => {
  process.exitCode = exitCode;
  // What was written last may still fail.
  process.on('exit', () => {
    process.exitCode = exitCodeAfter(exitCode);
  });
  // What was said is written by now, and nothing else is under way: to take everything down in good order would only take time.
  if (IS_QUICK) process.exit();
});
