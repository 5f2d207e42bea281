/** What the kernel lets an ordinary user do: namespaces of their own, bubblewrap in them, and nft rules in a network of their own. */
import { readFileSync, readlinkSync } from 'node:fs';
import { broken, type Check, type Finding, type Fix, missing, ok } from './check.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

/** nobody: what root may do says nothing about users. */
const UNPRIVILEGED = 65_534;

export const userNamespaceCheck: Check = {
  name: 'user namespaces',
  isNeeded: false,
  purpose: 'isolation driver sandbox without root',
  async look() {
    const isRoot = process.getuid?.() === 0;
    const result = await runProgram('unshare', ['--user', '--map-root-user', 'true'], isRoot ? { id: UNPRIVILEGED } : {});
    if (result.outcome === 'absent') return missing('no unshare to try them with', { install: 'util-linux' });
    return result.code === 0 ? ok(isRoot ? 'for every user' : 'allowed') : refusal(result, readSetting);
  },
};

export const bubblewrapCheck: Check = {
  name: 'bubblewrap',
  isNeeded: false,
  purpose: 'isolation driver sandbox',
  async look() {
    const version = await runProgram('bwrap', ['--version']);
    if (version.outcome === 'absent') return missing('no bwrap', { install: 'bubblewrap' });
    const sandbox = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--ro-bind', '/', '/'];
    const result = await runProgram('bwrap', [...sandbox, '--proc', '/proc', '--dev', '/dev', 'true']);
    if (result.code !== 0) return broken(`cannot make a sandbox: ${result.complaint}`, { advice: 'see user namespaces' });
    return ok(`${version.stdout.trim().replace('bubblewrap ', '')}, made a sandbox`);
  },
};

/** Says so and stops unless the network is another one than that of the machine. */
const IN_OWN_NETWORK =
  'test "$(readlink /proc/self/ns/net)" != "$1" || { echo "not in a network of its own" >&2; exit 9; }; shift; exec "$@"';
const RULES = 'table inet agentiso_probe {\n chain c {\n  type filter hook input priority 0; policy accept;\n }\n}\n';

export const nftCheck: Check = {
  name: 'nft',
  isNeeded: false,
  purpose: 'network rules between agents',
  async look() {
    const version = await runProgram('nft', ['--version']);
    if (version.outcome === 'absent') return missing('no nft', { install: 'nftables' });
    const result = await tryRules();
    if (result.outcome === 'absent') return missing('no unshare to try it with', { install: 'util-linux' });
    if (result.code !== 0)
      return broken(`takes no rules in a network of its own: ${result.complaint}`, {
        advice: 'see user namespaces; the kernel needs nf_tables',
      });
    return ok(`${/v[\d.]+/.exec(version.stdout)?.[0] ?? 'there'}, took rules in a network of its own`);
  },
};

async function tryRules(): Promise<ProgramResult> {
  const machine = readlinkSync('/proc/self/ns/net');
  const command = ['sh', '-c', `PATH="$PATH:/usr/sbin:/sbin"; ${IN_OWN_NETWORK}`, 'sh', machine, 'nft', RULES];
  const result = await runProgram('unshare', ['--user', '--map-root-user', '--net', ...command]);
  const isRoot = process.getuid?.() === 0;
  return result.code === 0 || result.outcome === 'absent' || !isRoot ? result : runProgram('unshare', ['--net', ...command]);
}

/** Why user namespaces are refused, as far as the settings of the machine show it. */
export function refusal({ complaint }: Pick<ProgramResult, 'complaint'>, setting: (name: string) => string | undefined): Finding {
  const advice = (text: string): Fix => ({ advice: text });
  if (setting('kernel/unprivileged_userns_clone') === '0') {
    return broken('switched off: kernel.unprivileged_userns_clone is 0', advice('sysctl kernel.unprivileged_userns_clone=1'));
  }
  if (setting('user/max_user_namespaces') === '0') {
    return broken('switched off: user.max_user_namespaces is 0', advice('sysctl user.max_user_namespaces=15000'));
  }
  if (setting('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return broken(
      'held back by AppArmor',
      advice('sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap'),
    );
  }
  return broken(complaint, advice('a container may forbid them: allow them there, or run agentiso outside'));
}

function readSetting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    // Not every kernel has every setting.
    return undefined;
  }
}
