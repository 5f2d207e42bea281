/** What setting a machine up does, as a shell and `ip` are told. Every value comes in a variable, none is part of the text. Pure. */
import type { MachineLink } from '#protocol/control.ts';

/** The only network device of a machine, whatever else it has. */
const DEVICE = 'eth0';
/** RNDRESEEDCRNG: what was drawn before says nothing about what is drawn from now on. */
const RESEED = 0x5207;

/**
 * The disk is found by its serial number and mounted whole, where nobody looks; the parts of it that programs see are bound to their places.
 * What the kernel may remember of its blocks is from before there was this disk, and forgotten.
 */
export const SET_UP_SCRIPT = `
set -e
echo 'step: randomness' >&2
perl -e 'open(F, "+<", "/dev/urandom") or die $!; syswrite(F, pack("H*", $ENV{SEED})) == 64 or die "short seed"; ioctl(F, ${RESEED}, 0) or die $!'
echo 'step: clock' >&2
date -s "@$SECONDS_NOW" > /dev/null
if [ -n "$LINK" ]; then
  echo 'step: network' >&2
  printf '%s\\n' "$LINK" | ip -batch -
fi
if [ -n "$DISK" ]; then
  echo 'step: disk' >&2
  device=
  for block in /sys/block/vd*; do
    if [ "$(cat "$block/serial")" = "$DISK" ]; then device=/dev/\${block##*/}; fi
  done
  [ -n "$device" ] || { echo "no disk is called $DISK" >&2; exit 1; }
  blockdev --flushbufs "$device"
  mkdir -p /run/agentiso/disk "$WORKSPACE" "$STATE"
  mount -t ext4 -o nosuid,nodev,noatime "$device" /run/agentiso/disk
  bind() {
    mkdir -p "/run/agentiso/disk/$1" "$2"
    mount --bind "/run/agentiso/disk/$1" "$2"
  }
  bind workspace "$WORKSPACE"
  bind state "$STATE"
  if [ -n "$AGENT_HOME" ]; then bind home "$AGENT_HOME"; fi
fi
`;

/** The gateway is given, not asked for: on this link there is nobody else, and nobody who answers. */
export function linkLines({ address, mac, gateway, gatewayMac }: MachineLink): string[] {
  return [
    'link set lo up',
    `link set ${DEVICE} down`,
    `link set ${DEVICE} address ${mac}`,
    `link set ${DEVICE} addrgenmode none`,
    `link set ${DEVICE} up`,
    `addr replace ${address}/32 dev ${DEVICE}`,
    `route replace ${gateway} dev ${DEVICE} scope link`,
    `neigh replace ${gateway} lladdr ${gatewayMac} dev ${DEVICE} nud permanent`,
    `route replace default via ${gateway} dev ${DEVICE}`,
  ];
}
