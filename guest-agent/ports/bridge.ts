/** Lets the host in by vsock: a process of its own joins its connections with the sockets of the run directory, for as long as this one runs. */
import { ANY_CID, CALL_PORT, HOST_CID, VSOCK_FAMILY, VSOCK_PORTS, vsockAddress } from '#protocol/vsock.ts';
import { lazy } from '../lazy-modules.ts';
import { BRIDGE_SCRIPT } from './bridge-script.ts';

export interface BridgeOptions {
  /** Where the host comes in: an address as the kernel reads it, and the path of the socket behind it. */
  readonly doors: readonly { readonly address: Buffer; readonly path: string }[];
  /** Who is told when all of them are open. */
  readonly host: Buffer;
  report(problem: string): void;
  /** For tests. */
  readonly family?: number;
}

export interface Bridge {
  /** Of the process that carries everything. */
  readonly pid: number | undefined;
  close(): void;
}

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const PAUSE_MS = 500;

export type SocketName = keyof typeof VSOCK_PORTS;

export const HOST_ADDRESS = vsockAddress(HOST_CID, CALL_PORT);

/** The sockets need not be there yet: whoever comes before them is sent away. */
export function vsockDoors(pathOf: (name: SocketName) => string): BridgeOptions['doors'] {
  return (Object.keys(VSOCK_PORTS) as SocketName[]).map((name) => ({
    address: vsockAddress(ANY_CID, VSOCK_PORTS[name]),
    path: pathOf(name),
  }));
}

/** Resolves when the host can come. A process that ends is started again: connections that it carried have ended, as with any host that goes. */
export async function openBridge({ doors, host, report, family = VSOCK_FAMILY }: BridgeOptions): Promise<Bridge> {
  const words = doors.flatMap(({ address, path }) => [address.toString('hex'), path]);
  let child: ReturnType<typeof start> | undefined;
  let [isClosed, isHeard] = [false, false];
  const run = (onListening: () => void): void => {
    if (isClosed) return;
    // Who has heard it once listens no more.
    child = start([String(family), isHeard ? '' : host.toString('hex'), ...words]);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.startsWith('listening\n')) onListening();
      isHeard ||= said.endsWith('heard\n');
    });
    child.once('error', (error) => report(`vsock: ${error.message}`));
    child.once('close', (code) => {
      if (isClosed) return;
      report(`vsock: ${said.replace(/^(listening|heard)$/gm, '').trim() || `the process that lets the host in ended with ${code}`}`);
      setTimeout(() => run(onListening), PAUSE_MS);
    });
  };
  await new Promise<void>(run);
  return {
    get pid() {
      return child?.pid;
    },
    close() {
      isClosed = true;
      child?.stdin.destroy();
    },
  };
}

/** Its standard input is never written to: it ends with this process, whatever ends that. */
function start(words: readonly string[]) {
  const child = lazy.childProcess.spawn('perl', ['-e', BRIDGE_SCRIPT, ...words], {
    env: { PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {});
  return child;
}
