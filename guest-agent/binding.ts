/** Who this guest is, from the command line or, for a member of the warm pool, from the call `bind`: nothing that needs it exists before. */
import { realpathSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { makeFolder } from '#lib/make-folder.ts';
import type { ControlHandlers, ControlParams, MachineParams, PrepareParams, WakeParams } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type Environment, inheritedEnv, providersEnv, proxyEnv, teamEnv } from './command-env.ts';
import { EGRESS_PORT, passToSocket, portOf, startEgress, type WayOut } from './egress.ts';
import type { Guest } from './guest.ts';
import { execHandler } from './handlers/exec.ts';
import { fileHandlers } from './handlers/files.ts';
import { jobHandlers } from './handlers/jobs.ts';
import { logsHandler } from './handlers/logs.ts';
import { portForwardHandler } from './handlers/port-forward.ts';
import { setEnvHandler } from './handlers/set-env.ts';
import { shutdownHandler } from './handlers/shutdown.ts';
import { Listener } from './listener.ts';
import { AgentLog } from './log/agent-log.ts';
import { type GuestIdentity, type GuestOptions, socketPath } from './options.ts';
import { isOfOurUser } from './peer-user.ts';
import type { ProcessGroups } from './process-group.ts';
import { createRelay, type Relay } from './relay/relay.ts';
import { report } from './report.ts';
import { Reserve } from './state/reserve.ts';
import { artifactHandlers } from './tasks/artifact-handlers.ts';

export interface Bound {
  readonly guest: Guest;
  readonly relay: Relay;
  readonly handlers: Omit<ControlHandlers, 'hello' | 'ping' | 'bind' | 'prepare' | 'wake'>;
}

export interface BindingOptions {
  readonly options: GuestOptions;
  readonly processEnv: Environment;
  /** Where the commands are that every program of the workspace may use. */
  readonly binDir: string;
  readonly groups: ProcessGroups;
  readonly stop: Guest['stop'];
  /** Of a virtual machine. */
  readonly setUp?: SetUp;
  /** Of one that waits for its identity. */
  readonly prepare?: (machine: PrepareParams, options: BindingOptions) => Promise<void>;
  /** Of one that was suspended. */
  readonly wake?: (now: WakeParams) => Promise<void>;
  readonly syncFiles?: Guest['syncFiles'];
}

type SetUp = (hostname: string, machine: MachineParams, places: Pick<GuestOptions, 'workspace' | 'stateDir' | 'home'>) => Promise<void>;

export class Binding {
  readonly #options: BindingOptions;
  #bound: Bound | undefined;
  #isBinding = false;

  constructor(options: BindingOptions) {
    this.#options = options;
  }

  get bound(): Bound | undefined {
    return this.#bound;
  }

  /** For those who come after the gate of the handshake. */
  get(): Bound {
    if (this.#bound === undefined) throw new ProtocolError('Unavailable', 'this guest has no identity yet');
    return this.#bound;
  }

  /** Also from the command line, where there is nothing to wait for. */
  bindNow(identity: GivenIdentity): void {
    if (this.#bound !== undefined) {
      const { id, incarnation } = this.#bound.guest;
      throw new ProtocolError('Conflict', `this guest is ${id} incarnation ${incarnation} for as long as it runs`);
    }
    this.#bound = createBound(this.#options, identity);
  }

  /** A machine is made this agent's own first: nothing of it is there before. */
  async bind({ machine, ...given }: ControlParams<'bind'>): Promise<void> {
    const identity = { ...given, ...(machine?.tools && { tools: machine.tools.place }) };
    let machineWayOut: WayOut['pass'] | undefined;
    if (machine !== undefined && this.#bound === undefined) {
      await this.#alone(async () => {
        const { setUp, options } = this.#options;
        if (setUp === undefined) throw new ProtocolError('Invalid', 'this guest is not in a virtual machine');
        await setUp(identity.hostname, machine, options);
        if (machine.egress) machineWayOut = await this.#openEgressPort(identity);
      });
    }
    this.bindNow({ ...identity, ...(machineWayOut && { machineWayOut }) });
  }

  /** Whoever is somebody's already has what it needs. */
  async prepare(machine: PrepareParams): Promise<void> {
    if (this.#options.prepare === undefined) throw new ProtocolError('Invalid', 'this guest is not in a virtual machine');
    if (this.#bound !== undefined) return;
    await this.#alone(() => this.#options.prepare?.(machine, this.#options));
  }

  async wake(now: WakeParams): Promise<void> {
    if (this.#options.wake === undefined) throw new ProtocolError('Invalid', 'this guest is not in a virtual machine');
    await this.#options.wake(now);
  }

  async #alone(work: () => Promise<void> | undefined): Promise<void> {
    if (this.#isBinding) throw new ProtocolError('Conflict', 'this guest is just being given its identity');
    this.#isBinding = true;
    try {
      await work();
    } finally {
      this.#isBinding = false;
    }
  }

  /** Only now: what is a copy of another machine must not have had it open before it knew whose it is. */
  async #openEgressPort(identity: GuestIdentity): Promise<WayOut['pass']> {
    const { portsDir, runDir } = this.#options.options;
    const { EgressPort } = await import('./ports/egress-port.ts');
    const port = new EgressPort(identity);
    if (portsDir === undefined) await Listener.open({ path: socketPath(runDir, 'egress'), serve: port.serve, report });
    else {
      const { PortListener } = await import('./ports/port-listener.ts');
      new PortListener({ path: join(portsDir, 'agentiso.egress'), serve: port.serve, report });
    }
    return port.pass;
  }
}

interface GivenIdentity extends GuestIdentity {
  readonly hostname?: string;
  /** Where it has tools that it was not started with. */
  readonly tools?: string;
  /** Of a virtual machine that has one. */
  readonly machineWayOut?: WayOut['pass'];
}

function createBound(binding: BindingOptions, { id, incarnation, hostname, tools, machineWayOut }: GivenIdentity): Bound {
  const { options, processEnv, binDir, groups, stop, syncFiles } = binding;
  const root = realpathSync(options.workspace);
  makeFolder(options.stateDir);
  const log = new AgentLog(options.stateDir);
  const agentSocket = join(options.runDir, 'agent.sock');
  const inherited = inheritedEnv(processEnv);
  const baseEnv = {
    ...inherited,
    ...teamEnv({ path: inherited['PATH'], binDir, socket: agentSocket, node: process.execPath }),
    ...(hostname !== undefined && { HOSTNAME: hostname }),
    ...(tools !== undefined && { AGENTISO_TOOLS: tools }),
    ...((options.hasEgress || machineWayOut) && proxyEnv(EGRESS_PORT)),
    AGENTISO_WORKSPACE: root,
  };
  const setNames = new Map<string, string>();
  const wayOut = startWayOut(options, machineWayOut, (problem) => log.write('guest', problem));
  const env = () => {
    const port = portOf(wayOut);
    return { ...baseEnv, ...(port !== undefined && providersEnv(port)), ...Object.fromEntries(setNames) };
  };
  const mcpClients = options.home === undefined ? {} : { mcpClients: { home: options.home, command: join(binDir, 'team') } };
  // Beside the guest agent, as the folder of commands is.
  const programs = { promptRunner: join(dirname(binDir), 'prompt-runner.cjs'), team: join(binDir, 'team') };
  const guest: Guest = {
    ...{ id, incarnation, root, stateDir: options.stateDir, agentSocket, programs, ...mcpClients, env, groups, log, stop },
    ...(syncFiles && { syncFiles, reserve: new Reserve(options.stateDir) }),
  };
  const relay = createRelay(guest);
  log.write('guest', `started as ${id} incarnation ${incarnation}`);
  return { guest, relay, handlers: { ...createHandlers(guest, setNames), ...relay.handlers } };
}

/** Where nothing is isolated many guests share one loopback, each with a port of its own choice, and strangers are there, too. */
function startWayOut(
  { hasEgress, hasProviders, runDir }: GuestOptions,
  machineWayOut: WayOut['pass'] | undefined,
  report: WayOut['report'],
): Server | undefined {
  if (machineWayOut !== undefined) return startEgress({ pass: machineWayOut, report });
  if (!hasEgress && !hasProviders) return undefined;
  const pass = passToSocket(join(runDir, 'egress.sock'));
  return hasEgress ? startEgress({ pass, report }) : startEgress({ pass, report, port: 0, isWelcome: isOfOurUser });
}

/** Loaded with the first of these calls: what it takes to run commands on terminals is needed by few guests. */
function lateExecStreamHandlers(guest: Guest): Pick<ControlHandlers, 'execStream' | 'execResize'> {
  let loading: Promise<Pick<ControlHandlers, 'execStream' | 'execResize'>> | undefined;
  const load = () => {
    loading ??= import('./handlers/exec-stream.ts').then(({ execStreamHandlers }) => execStreamHandlers(guest));
    return loading;
  };
  return {
    execStream: async (params, context) => (await load()).execStream(params, context),
    execResize: async (params, context) => (await load()).execResize(params, context),
  };
}

/** Few guests are ever asked. */
function lateGitHandlers(guest: Guest): Pick<ControlHandlers, 'gitExport' | 'gitImport'> {
  const load = () => import('./git/handlers.ts').then(({ gitHandlers }) => gitHandlers(guest));
  return {
    gitExport: async (params, context) => (await load()).gitExport(params, context),
    gitImport: async (params, context) => (await load()).gitImport(params, context),
  };
}

function createHandlers(guest: Guest, setNames: Map<string, string>): Omit<Bound['handlers'], keyof Relay['handlers']> {
  return {
    exec: execHandler(guest),
    ...lateExecStreamHandlers(guest),
    ...jobHandlers(guest),
    setEnv: setEnvHandler(setNames),
    ...fileHandlers(guest),
    logs: logsHandler(guest),
    portForward: portForwardHandler(),
    shutdown: shutdownHandler(guest),
    ...artifactHandlers(guest),
    ...lateGitHandlers(guest),
  };
}
