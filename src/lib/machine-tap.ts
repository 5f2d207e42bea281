/**
 * How the device of a virtual machine is joined to the link of its network namespace: all that comes in at one goes out at the other. Nothing is
 * bridged or routed in between, and without it nothing passes. Whoever starts a machine does it, and whoever makes its link anew. Pure.
 */

/** The device, in the network namespace of its agent. */
export const TAP = 'tap0';
const LINK = 'eth0';

/** For a shell: takes away what joinLines has made, as far as it is there, and the device. */
export function leaveScript(tap: string): string {
  return `ip link del ${tap} 2> /dev/null\ntc qdisc del dev ${LINK} ingress 2> /dev/null\n:`;
}

/** For `tc`, one command each, where neither has been joined before. */
export function joinLines(tap: string): readonly string[] {
  const ends = [
    [LINK, tap],
    [tap, LINK],
  ] as const;
  return [
    ...ends.map(([from]) => `qdisc add dev ${from} handle ffff: ingress`),
    ...ends.map(
      ([from, to]) => `filter add dev ${from} parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev ${to}`,
    ),
  ];
}
