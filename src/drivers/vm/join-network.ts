/**
 * The device of a machine that was started in a network of its own, where nobody is, is moved into the namespace of its agent and joined to the link there. QEMU
 * has the device open all the while and does not notice. Whatever fails on the way, nothing passes.
 */
import { execute } from '#lib/execute.ts';
import { joinLines, leaveScript, TAP } from '#lib/machine-tap.ts';
import { TOOL_PATH } from '../sandbox/args.ts';

/** In the namespace of the machine, which has the device; one that was moved already is joined anew. */
export const MOVE_SCRIPT = `
namespace=$1
if ip link show ${TAP} > /dev/null 2>&1; then
  nsenter --net="$namespace" -- /bin/sh -c "$2"
  ip link set ${TAP} netns "$namespace" || exit 1
else
  nsenter --net="$namespace" -- tc qdisc del dev ${TAP} ingress 2> /dev/null
  nsenter --net="$namespace" -- tc qdisc del dev eth0 ingress 2> /dev/null
fi
exec nsenter --net="$namespace" -- /bin/sh -c "$3"
`;

export const JOIN_SCRIPT = `
if ip link show eth0 > /dev/null 2>&1; then
  tc -batch - << END || exit 1
${joinLines(TAP).join('\n')}
END
fi
ip link set ${TAP} addrgenmode none 2> /dev/null
ip link set ${TAP} up
`;

/** `launcher`: a process in the network that the machine was started in. Can be repeated. */
export async function joinNetwork(launcher: number, namespace: string): Promise<void> {
  const script = ['/bin/sh', '-c', MOVE_SCRIPT, 'sh', namespace, leaveScript(TAP), JOIN_SCRIPT];
  await execute('nsenter', [`--net=/proc/${launcher}/ns/net`, '--', ...script], { env: { PATH: TOOL_PATH } });
}
