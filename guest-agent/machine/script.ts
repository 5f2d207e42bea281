/** What setting a machine up does, as Perl is told. Every value comes as a line of its standard input, none is part of the text. Pure. */
import { LINK_STEPS } from './netlink.ts';

/** What the kernel calls them, on amd64: the only kind of machine there is an image for. */
const SYS = { settimeofday: 164, mount: 165, syncfs: 306 };
/** RNDRESEEDCRNG: what was drawn before says nothing about what is drawn from now on. BLKFLSBUF: forget what is remembered of blocks. */
const IOCTL = { reseed: 0x5207, flush: 0x1261 };
/** nosuid, nodev, noatime; the same, read-only; bind. */
const MOUNT = { disk: 2 | 4 | 1024, tools: 1 | 2 | 4 | 1024, bind: 4096 };
/** AF_NETLINK, SOCK_RAW, NETLINK_ROUTE. */
const NETLINK = [16, 3, 0].join(', ');
/** How long the kernel holds back what it knows of the disk's files, in seconds; what it holds back of their contents is in second-init.ts. */
const DISK_OPTIONS = 'commit=1';

/** One line each, in this order; what is empty is left out. First what needs no identity, then `ready` is said, and the rest is waited for, any number of times. */
export const SET_UP_LINES = ['prepare', 'seed', 'timeMs', 'link', 'disk', 'workspace', 'state', 'home', 'toolsDisk', 'toolsPlace'] as const;

/**
 * In Perl, which every Debian has: one process for all of it, because starting one is what takes time on an emulated processor. It is there
 * and has read its text before it is told anything, and in a copy of a machine it goes on where it was waiting.
 *
 * Disks are found by their serial numbers. That of the workspace is mounted whole, where nobody looks; the parts of it that programs see are bound
 * to their places. What the kernel may remember of their blocks is from before there were these disks, and forgotten.
 *
 * All of it can be told again: a machine that waits for its agent has its disks first and the rest later.
 *
 * Whenever it waits it can be told to `rehearse`, which does nothing but answer, or `sync PATH`: `synced` means that all of the file system which has
 * that place is on its disk. It says `done`, or `failed` with the step and why, and ends when nobody can tell it anything any more.
 */
export const SET_UP_SCRIPT = `
use strict;
$| = 1;
my $step = 'start';
sub step { $step = $_[0] }
sub value {
  while (defined(my $line = readline(STDIN))) {
    chomp $line;
    if ($line eq 'rehearse') { print "rehearsed\n" }
    elsif ($line =~ /^sync (.*)/) { print sync_all($1) ? "synced\n" : "failed: $!\n" }
    else { return $line }
  }
  exit;
}
sub sync_all {
  my ($path) = @_;
  open(my $place, '<', $path) or return 0;
  return syscall(${SYS.syncfs}, fileno($place)) == 0;
}
sub call { my $number = shift; syscall($number, @_) == 0 or die "$!\n" }
sub mount_at {
  my ($source, $target, $type, $flags, $options) = @_;
  $options //= '';
  call(${SYS.mount}, $source, $target, $type, $flags, $options);
}
sub fresh {
  my ($device, $name) = @_;
  defined $device or die "no disk is called $name\n";
  open(my $disk, '<', $device) or die "$!\n";
  ioctl($disk, ${IOCTL.flush}, 0);
  close $disk;
  return $device;
}
sub make { my $path = ''; for my $part (split m{/}, $_[0]) { $path .= "$part/"; mkdir $path, 0755 unless -d $path } }
my @parts = ('', ${LINK_STEPS.map((name) => `'${name}'`).join(', ')});
sub tell_kernel {
  socket(my $kernel, ${NETLINK}) or die "$!\n";
  defined send($kernel, pack('H*', $_[0]), 0) or die "$!\n";
  for (;;) {
    defined recv($kernel, my $answer, 4096, 0) or die "$!\n";
    my ($number, $problem) = (unpack('L S S L L l', $answer))[3, 5];
    return if $problem == 0;
    $! = -$problem;
    die "$parts[$number]: $!\n";
  }
}

eval {
  step 'device';
  my $prepare = value();
  tell_kernel($prepare) if $prepare ne '';
  my %disks;
  opendir(my $blocks, '/sys/block') or die "$!\n";
  for my $name (readdir $blocks) {
    open(my $serial, '<', "/sys/block/$name/serial") or next;
    chomp(my $found = readline($serial) // '');
    $disks{$found} = "/dev/$name";
  }
  open(my $random, '+<', '/dev/urandom') or die "$!\n";
  print "ready\n";

  for (;;) {
    my $seed = value();
    step 'randomness';
    syswrite($random, pack('H*', $seed)) == 64 or die "short seed\n";
    defined ioctl($random, ${IOCTL.reseed}, 0) or die "$!\n";

    step 'clock';
    my $time = value();
    my $now = pack('q2', int($time / 1000), $time % 1000 * 1000);
    call(${SYS.settimeofday}, $now, 0);

    step 'network';
    my $link = value();
    tell_kernel($link) if $link ne '';

    step 'disk';
    my ($name, @places) = (value(), ['workspace', value()], ['state', value()], ['home', value()]);
    if ($name ne '') {
      my $device = fresh($disks{$name}, $name);
      my $whole = '/run/agentiso/disk';
      make($whole);
      mount_at($device, $whole, my $ext4 = 'ext4', ${MOUNT.disk}, '${DISK_OPTIONS}');
      for (@places) {
        my ($part, $place) = @$_;
        next if $place eq '';
        make("$whole/$part");
        make($place);
        mount_at(my $source = "$whole/$part", $place, my $none = '', ${MOUNT.bind});
      }
    }

    step 'tools';
    my ($tools, $place) = (value(), value());
    if ($tools ne '') {
      make($place);
      mount_at(fresh($disks{$tools}, $tools), $place, my $ext4 = 'ext4', ${MOUNT.tools});
    }
    print "done\n";
  }
} or print "failed: $step: $@";
value();
`;

/** Brings the programs of the first commands of an agent into memory. Changes nothing. */
export const WARM_UP_COMMAND = 'cat /dev/null; mkfifo --version; git --version';
