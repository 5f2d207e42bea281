/** What setting a machine up does, as Perl and `ip` are told. Every value comes in a variable, none is part of the text. Pure. */
import type { MachineLink } from '#protocol/control.ts';

/** The only network device of a machine, whatever else it has. */
const DEVICE = 'eth0';
/** What the kernel calls them, on amd64: the only kind of machine there is an image for. */
const SYS = { settimeofday: 164, mount: 165 };
/** RNDRESEEDCRNG: what was drawn before says nothing about what is drawn from now on. BLKFLSBUF: forget what is remembered of blocks. */
const IOCTL = { reseed: 0x5207, flush: 0x1261 };
/** nosuid, nodev, noatime; the same, read-only; bind. */
const MOUNT = { disk: 2 | 4 | 1024, tools: 1 | 2 | 4 | 1024, bind: 4096 };

/**
 * In Perl, which every Debian has: one process for all of it, because starting one is what takes time on an emulated processor.
 *
 * Disks are found by their serial numbers. That of the workspace is mounted whole, where nobody looks; the parts of it that programs see are bound to their
 * places. What the kernel may remember of their blocks is from before there were these disks, and forgotten.
 */
export const SET_UP_SCRIPT = `
use strict;
sub step { print STDERR "step: $_[0]\n" }
sub call { my $number = shift; syscall($number, @_) == 0 or die "$!\n" }
sub mount_at {
  my ($source, $target, $type, $flags) = @_;
  my $options = '';
  call(${SYS.mount}, $source, $target, $type, $flags, $options);
}
sub device_of {
  my ($wanted) = @_;
  my $device;
  opendir(my $blocks, '/sys/block') or die "$!\n";
  for my $name (readdir $blocks) {
    open(my $serial, '<', "/sys/block/$name/serial") or next;
    chomp(my $found = readline($serial) // '');
    $device = "/dev/$name" if $found eq $wanted;
  }
  defined $device or die "no disk is called $wanted\n";
  open(my $disk, '<', $device) or die "$!\n";
  ioctl($disk, ${IOCTL.flush}, 0);
  close $disk;
  return $device;
}
sub make { my $path = ''; for my $part (split m{/}, $_[0]) { $path .= "$part/"; mkdir $path, 0755 unless -d $path } }

step 'randomness';
open(my $random, '+<', '/dev/urandom') or die "$!\n";
syswrite($random, pack('H*', $ENV{SEED})) == 64 or die "short seed\n";
defined ioctl($random, ${IOCTL.reseed}, 0) or die "$!\n";

step 'clock';
my $now = pack('q2', int($ENV{TIME_MS} / 1000), $ENV{TIME_MS} % 1000 * 1000);
call(${SYS.settimeofday}, $now, 0);

if ($ENV{LINK} ne '') {
  step 'network';
  open(my $ip, '|-', 'ip', '-batch', '-') or die "$!\n";
  print $ip "$ENV{LINK}\n";
  close $ip or die "ip failed\n";
}

if ($ENV{DISK} ne '') {
  step 'disk';
  my $device = device_of($ENV{DISK});
  my $whole = '/run/agentiso/disk';
  make($whole);
  mount_at($device, $whole, my $ext4 = 'ext4', ${MOUNT.disk});
  for (['workspace', $ENV{WORKSPACE}], ['state', $ENV{STATE}], ['home', $ENV{AGENT_HOME}]) {
    my ($part, $place) = @$_;
    next if $place eq '';
    make("$whole/$part");
    make($place);
    mount_at(my $source = "$whole/$part", $place, my $none = '', ${MOUNT.bind});
  }
}

if ($ENV{TOOLS_DISK} ne '') {
  step 'tools';
  make($ENV{TOOLS});
  mount_at(device_of($ENV{TOOLS_DISK}), $ENV{TOOLS}, my $ext4 = 'ext4', ${MOUNT.tools});
}
`;

/** Brings the programs above, and those of the first commands of an agent, into memory. Changes nothing. */
export const WARM_UP_SCRIPT = `
system('ip', 'link', 'show');
system('sh', '-c', 'cat /dev/null; mkfifo --version; git --version');
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
