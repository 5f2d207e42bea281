/**
 * Tries the ways out of a sandbox and says how each ended, as one JSON object: `allowed` or the name of the error. To be run inside of a sandbox
 * only: outside, some of this would work. Files of the kernel are opened and never written to.
 */
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');

const { secret, port, abstractName, hostPid, calls } = JSON.parse(process.argv[2]);
const ERRNO = Object.fromEntries(Object.entries(os.constants.errno).map(([name, number]) => [number, name]));
const { O_WRONLY, O_RDONLY } = fs.constants;

function attempt(work) {
  try {
    work();
    return 'allowed';
  } catch (error) {
    return error.code ?? String(error);
  }
}

const opened = (path, flags) => attempt(() => fs.closeSync(fs.openSync(path, flags)));
const made = (path) => attempt(() => fs.writeFileSync(path, ''));

/** [name, number, ...arguments] each; perl is what can make any call at all. */
function systemCalls() {
  const program = `
    for my $line (<STDIN>) {
      chomp $line;
      my ($name, $call, @arguments) = split / /, $line;
      $_ += 0 for @arguments;
      $! = 0;
      my $result = syscall($call + 0, @arguments);
      printf "%s %s\\n", $name, $result == -1 ? $! + 0 : "allowed";
    }`;
  const input = calls.map((call) => call.join(' ')).join('\n');
  const lines = execFileSync('perl', ['-e', program], { input, encoding: 'utf8' }).trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const [name, outcome] = line.split(' ');
      return [`call ${name}`, ERRNO[outcome] ?? outcome];
    }),
  );
}

function blockDevice() {
  const { status, stderr } = spawnSync('mknod', ['/workspace/block-probe', 'b', '7', '0'], { encoding: 'utf8' });
  if (status === 0) return 'allowed';
  return stderr.includes('Operation not permitted') ? 'EPERM' : stderr;
}

function abstractSocket() {
  const program = `
    use Socket;
    socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die $!;
    print connect($s, pack_sockaddr_un("\\0" . $ARGV[0])) ? "allowed" : $! + 0;`;
  const outcome = execFileSync('perl', ['-e', program, abstractName], { encoding: 'utf8' });
  return ERRNO[outcome] ?? outcome;
}

function terminalInput() {
  const outcome = execFileSync('perl', ['-e', 'my $c = "x"; print ioctl(STDIN, 0x5412, $c) ? "allowed" : $! + 0'], { encoding: 'utf8' });
  return ERRNO[outcome] ?? outcome;
}

function loopback() {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve('allowed')).once('error', (error) => resolve(error.code));
  });
}

/** What every process here has open, by what it leads to. */
function descriptors() {
  const found = new Set();
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    attempt(() => {
      for (const fd of fs.readdirSync(`/proc/${pid}/fd`)) attempt(() => found.add(fs.readlinkSync(`/proc/${pid}/fd/${fd}`)));
    });
  }
  return [...found];
}

function environments() {
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    let text = '';
    attempt(() => {
      text = fs.readFileSync(`/proc/${pid}/environ`, 'utf8');
    });
    return text;
  });
}

const NAMESPACES = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];

async function main() {
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  fs.writeFileSync('/workspace/setuid-probe', '');
  const report = {
    'read a secret of the host': opened(secret, O_RDONLY),
    'read /etc/shadow': opened('/etc/shadow', O_RDONLY),
    'read /root': attempt(() => fs.readdirSync('/root')),
    'read /sys': attempt(() => fs.readdirSync('/sys/kernel')),
    'reach the docker socket': attempt(() => fs.statSync('/var/run/docker.sock')),
    'write /': made('/probe'),
    'write /usr': made('/usr/probe'),
    'write /etc': made('/etc/probe'),
    'write /run': made('/run/probe'),
    'write /dev': made('/dev/probe'),
    'replace the guest agent': made('/run/agent.cjs'),
    'open core_pattern for writing': opened('/proc/sys/kernel/core_pattern', O_WRONLY),
    'open drop_caches for writing': opened('/proc/sys/vm/drop_caches', O_WRONLY),
    'open the host name for writing': opened('/proc/sys/kernel/hostname', O_WRONLY),
    'open sysrq-trigger for writing': opened('/proc/sysrq-trigger', O_WRONLY),
    'open kcore': opened('/proc/kcore', O_RDONLY),
    'open /dev/mem': opened('/dev/mem', O_RDONLY),
    'open /dev/kmsg': opened('/dev/kmsg', O_RDONLY),
    'open /dev/kvm': opened('/dev/kvm', O_RDONLY),
    'signal a process of the host': attempt(() => process.kill(hostPid, 0)),
    'make a file setuid': attempt(() => fs.chmodSync('/workspace/setuid-probe', 0o4755)),
    'make a block device': blockDevice(),
    'put words into a terminal': terminalInput(),
    "connect to the host's loopback": await loopback(),
    "connect to the host's abstract socket": abstractSocket(),
    'write /workspace': made('/workspace/probe'),
    'write /tmp': made('/tmp/probe'),
    'write home': made(`${process.env.HOME}/probe`),
    ...systemCalls(),
  };
  const facts = {
    uid: process.getuid(),
    userName: os.userInfo().username,
    hostname: os.hostname(),
    capabilities: [...status.matchAll(/^Cap\w+:\s*(\w+)$/gm)].map(([, value]) => value),
    noNewPrivileges: /^NoNewPrivs:\s*(\d)/m.exec(status)[1],
    seccomp: /^Seccomp:\s*(\d)/m.exec(status)[1],
    processes: fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
    interfaces: Object.keys(os.networkInterfaces()),
    devices: fs.readdirSync('/dev').sort(),
    namespaces: Object.fromEntries(NAMESPACES.map((name) => [name, fs.readlinkSync(`/proc/self/ns/${name}`)])),
    descriptors: descriptors(),
    environments: environments(),
  };
  process.stdout.write(JSON.stringify({ report, facts }));
}

void main();
