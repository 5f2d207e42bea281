/** The ways out of a sandbox, tried from inside of one that the driver made. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readlinkSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Driver, WorkspaceSpec } from '#drivers/driver.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { type Architecture, type SystemCall, systemCallNumber } from '#drivers/sandbox/system-calls.ts';
import { askStandIn, STAND_IN_PATH } from '../support/guest-stand-in.ts';
import { openDriver } from '../support/open-driver.ts';
import { requires } from '../support/requirements.ts';

const { signal } = new AbortController();
const SPEC: WorkspaceSpec = {
  id: 'prisoner',
  incarnation: 'first',
  hostname: 'prisoner-host',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 7,
  egress: false,
};
const HIGH_DESCRIPTOR = 20;
const support = await detectSandbox();
/** Whom the team's files belong to. */
const TEAM_UID = support.mode === 'root' ? 70_007 : process.getuid?.();
const hasPerl = spawnSync('perl', ['-v']).status === 0;

/** Arguments with which the call, if it got through, would do nothing or fail for another reason. */
const CALLS: readonly (readonly [SystemCall, ...number[]])[] = [
  ['mount', 0, 0, 0, 0, 0],
  ['umount2', 0, 0],
  ['pivot_root', 0, 0],
  ['chroot', 0],
  ['fsopen', 0, 0],
  ['open_tree', -1, 0, 0],
  ['open_by_handle_at', -1, 0, 0],
  ['unshare', 0x10000000],
  ['setns', -1, 0],
  ['ptrace', 0, 0, 0, 0],
  ['process_vm_readv', 1, 0, 0, 0, 0, 0],
  ['keyctl', 0, 0, 0, 0, 0],
  ['bpf', 0, 0, 0],
  ['perf_event_open', 0, 0, -1, -1, 0],
  ['userfaultfd', 0],
  ['io_uring_setup', 1, 0],
  ['sethostname', 0, 0],
  ['clone3', 0, 0],
];
const AF_UNIX = 1;
const AF_INET = 2;
const AF_PACKET = 17;
const SOCK_STREAM = 1;
const SOCK_RAW = 3;
const IPPROTO_ICMP = 1;

/** How each attempt has to end. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  'read a secret of the host': /^ENOENT$/,
  'read /etc/shadow': /^ENOENT$/,
  'read /root': /^ENOENT$/,
  'read /sys': /^ENOENT$/,
  'reach the docker socket': /^ENOENT$/,
  'write /': /^EROFS$/,
  'write /usr': /^EROFS$/,
  'write /etc': /^EROFS$/,
  'write /run': /^EROFS$/,
  'write /dev': /^EROFS$/,
  'replace the guest agent': /^(EROFS|EACCES)$/,
  'open core_pattern for writing': /^(EROFS|EACCES)$/,
  'open drop_caches for writing': /^(EROFS|EACCES)$/,
  'open the host name for writing': /^(EROFS|EACCES)$/,
  'open sysrq-trigger for writing': /^(EROFS|EACCES|ENOENT)$/,
  'open kcore': /^(EACCES|EPERM|ENOENT)$/,
  'open /dev/mem': /^ENOENT$/,
  'open /dev/kmsg': /^ENOENT$/,
  'open /dev/kvm': /^ENOENT$/,
  'signal a process of the host': /^ESRCH$/,
  'put words into a terminal': /^EPERM$/,
  "connect to the host's loopback": /^(ECONNREFUSED|ENETUNREACH)$/,
  "connect to the host's abstract socket": /^ECONNREFUSED$/,
  'call socket-packet': /^EAFNOSUPPORT$/,
  'call socket-raw': /^EPERM$/,
  'make a block device': /^EPERM$/,
  'call clone3': /^ENOSYS$/,
  ...Object.fromEntries(CALLS.filter(([call]) => call !== 'clone3').map(([call]) => [`call ${call}`, /^EPERM$/])),
  // What must work, which also shows that the attempts above were really made.
  'make a file setuid': /^allowed$/,
  'write /workspace': /^allowed$/,
  'write /tmp': /^allowed$/,
  'write home': /^allowed$/,
  'call socket-unix': /^allowed$/,
  'call socket-inet': /^allowed$/,
};

interface Probed {
  readonly report: Readonly<Record<string, string>>;
  readonly facts: {
    readonly [name: string]: unknown;
    readonly capabilities: readonly string[];
    readonly devices: readonly string[];
    readonly descriptors: readonly string[];
    readonly environments: readonly string[];
    readonly namespaces: Readonly<Record<string, string>>;
  };
}

requires(support.mode !== 'unavailable' && hasPerl, `sandboxes and perl: ${support.reason || 'no perl'}`)('from inside a sandbox', () => {
  let base: string;
  let driver: Driver;
  let probed: Probed;
  const server = createServer();
  const abstractServer = createServer();

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'agentiso-escape-'));
    await chmod(base, 0o755);
    await writeFile(join(base, 'secret'), 'nobody must know', { mode: 0o644 });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await once(abstractServer.listen(`\0agentiso-escape-${process.pid}`), 'listening');
    const stateDir = join(base, 'state');
    driver = await openDriver('sandbox', { stateDir, guestAgentPath: STAND_IN_PATH });
    await startFromCarelessDaemon(stateDir, join(base, 'secret'));
    probed = await probe(stateDir);
  }, 60_000);

  afterAll(async () => {
    await vi.waitFor(
      async () => {
        await driver.delete(SPEC.id, signal);
        expect(await driver.get(SPEC.id, signal)).toBeUndefined();
      },
      { timeout: 20_000 },
    );
    server.close();
    abstractServer.close();
    await rm(base, { recursive: true, force: true });
  });

  /** One that was itself started with a file open and a secret in its environment. */
  async function startFromCarelessDaemon(stateDir: string, secret: string): Promise<void> {
    const host = fileURLToPath(new URL('../support/driver-host.ts', import.meta.url));
    const stdio = [...Array.from({ length: HIGH_DESCRIPTOR }, () => 'ignore' as const), openSync(secret, 'r')];
    const args = ['--import', 'tsx', host, 'sandbox', stateDir, STAND_IN_PATH, JSON.stringify(SPEC)];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit', ...stdio.slice(3)],
      env: { ...process.env, CARELESS: 'secret-value' },
    });
    const exited = once(child, 'exit');
    await vi.waitFor(async () => expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'running' }), {
      timeout: 30_000,
      interval: 50,
    });
    expect(readlinkSync(`/proc/${child.pid}/fd/${HIGH_DESCRIPTOR}`)).toBe(secret);
    child.kill('SIGKILL');
    await exited;
  }

  async function probe(stateDir: string): Promise<Probed> {
    await copyFile(
      fileURLToPath(new URL('../support/escape-probe.cjs', import.meta.url)),
      join(stateDir, SPEC.id, 'workspace', 'probe.cjs'),
    );
    const arch = process.arch as Architecture;
    const socket = systemCallNumber('socket', arch);
    const address = server.address();
    const settings = {
      secret: join(base, 'secret'),
      port: typeof address === 'object' ? address?.port : 0,
      abstractName: `agentiso-escape-${process.pid}`,
      hostPid: process.pid,
      calls: [
        ...CALLS.map(([call, ...args]) => [call, systemCallNumber(call, arch), ...args]),
        ['socket-packet', socket, AF_PACKET, SOCK_RAW, 0],
        ['socket-raw', socket, AF_INET, SOCK_RAW, IPPROTO_ICMP],
        ['socket-unix', socket, AF_UNIX, SOCK_STREAM, 0],
        ['socket-inet', socket, AF_INET, SOCK_STREAM, 0],
      ],
    };
    const command = `node probe.cjs '${JSON.stringify(settings)}'`;
    const answer = await askStandIn(await driver.connect(SPEC.id, 'control', signal), { command });
    expect(answer.stderr).toBe('');
    return JSON.parse(answer.stdout ?? '') as Probed;
  }

  it('each attempt ends as it has to', () => {
    for (const [name, expected] of Object.entries(EXPECTED)) expect.soft(probed.report[name], name).toMatch(expected);
    expect(Object.keys(probed.report).filter((name) => !(name in EXPECTED))).toEqual([]);
  });

  it('a file made setuid belongs to the team on the host, never to root', async () => {
    const { uid, mode } = await stat(join(base, 'state', SPEC.id, 'workspace', 'setuid-probe'));
    expect(uid).toBe(TEAM_UID);
    expect(mode & 0o4000).toBe(0o4000);
  });

  it('there is an ordinary user without any capability, under the filter', () => {
    expect(probed.facts).toMatchObject({ uid: 1000, userName: 'agent', hostname: SPEC.hostname, noNewPrivileges: '1', seccomp: '2' });
    for (const set of probed.facts.capabilities) expect(set).toMatch(/^0+$/);
  });

  it('every namespace is its own', () => {
    for (const [name, link] of Object.entries(probed.facts.namespaces))
      expect.soft(link, name).not.toBe(readlinkSync(`/proc/self/ns/${name}`));
    expect(probed.facts['interfaces']).toEqual(['lo']);
  });

  it('only its own processes and harmless devices are to be seen', () => {
    // bubblewrap, the guest, the shell, the probe.
    expect(probed.facts['processes']).toBeLessThanOrEqual(4);
    const harmless = /^(console|core|fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero)$/;
    for (const device of probed.facts.devices) expect.soft(device).toMatch(harmless);
  });

  it('no descriptor leads out that the daemon was started with', () => {
    const harmless = /^(pipe|socket|anon_inode):|^\/dev\/(null|urandom|random)$|^\/proc\/|guest\.log$/;
    for (const target of probed.facts.descriptors) expect.soft(target).toMatch(harmless);
  });

  it("nothing of the daemon's environment is to be found", () => {
    expect(probed.facts.environments.join('\n')).toContain('AGENTISO_MARK');
    expect(probed.facts.environments.join('\n')).not.toMatch(/CARELESS|secret-value/);
  });
});
