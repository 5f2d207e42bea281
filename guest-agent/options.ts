/** The command line of the guest agent. */
export interface GuestIdentity {
  readonly id: string;
  readonly incarnation: string;
}

export interface GuestOptions {
  /** Absent: a member of the warm pool, which is told later. */
  readonly identity: GuestIdentity | undefined;
  /** Where its sockets are. */
  readonly runDir: string;
  /** Folder of the ports of a virtual machine: the host comes by those, not by sockets. */
  readonly portsDir?: string;
  /** In a virtual machine whose host comes by vsock, which leads to the sockets. */
  readonly hasVsock?: boolean;
  /** Whether to bring what setting up a machine needs into memory, before anybody is heard: it will be copied from there. */
  readonly isWarm?: boolean;
  /** Its durable memory. */
  readonly stateDir: string;
  /** The workspace root as it really lies in the file system. */
  readonly workspace: string;
  readonly hasEgress: boolean;
  /** Of the host's socket it uses only the way to providers of models. */
  readonly hasProviders: boolean;
  /** Of its programs, where it is the agent's own. Absent: they have the home of whoever runs the daemon. */
  readonly home?: string;
}

export function parseOptions(argv: readonly string[]): GuestOptions {
  const values = readWords(argv);
  const required = (name: string): string => {
    const value = values.get(name) ?? '';
    if (value === '') throw new Error(`--${name} is required`);
    return value;
  };
  return {
    identity: values.has('pool') ? undefined : { id: required('id'), incarnation: required('incarnation') },
    runDir: required('run'),
    stateDir: required('state'),
    workspace: required('workspace'),
    hasEgress: values.has('egress'),
    hasProviders: values.has('providers'),
    ...(values.has('ports') && { portsDir: required('ports'), isWarm: values.has('warm') }),
    ...(values.has('vsock') && { hasVsock: true }),
    ...(values.has('home') && { home: required('home') }),
  };
}

/** Of the ports. The host's proxy has egress.sock in the run directory of a workspace that is no machine. */
export function socketPath(runDir: string, name: 'control' | 'relay' | 'egress'): string {
  return `${runDir}/${name === 'egress' ? 'egress-port' : name}.sock`;
}

const WITH_VALUE = ['id', 'incarnation', 'run', 'state', 'workspace', 'home', 'ports'];
const FLAGS = ['pool', 'egress', 'providers', 'warm', 'vsock'];

/** By hand: to load Node's parser would take longer than all the rest of the command line's way. */
function readWords(argv: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const name = word.slice(2);
    if (word === `--${name}` && FLAGS.includes(name)) values.set(name, '');
    else if (word === `--${name}` && WITH_VALUE.includes(name)) values.set(name, argv[++at] ?? '');
    else throw new Error(`${word} is no option: ${[...WITH_VALUE, ...FLAGS].map((each) => `--${each}`).join(', ')} are`);
  }
  return values;
}
