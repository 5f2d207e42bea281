/** How a guest is reached by sockets of a family that Node does not know: a process joins each of their connections with one to a unix socket. Pure. */
import { HOST_CID, VSOCK_FAMILY } from '#protocol/vsock.ts';

/** At once, in all. */
export const MAX_BRIDGED = 128;

/** Whether whoever has this address is let in: over vsock nobody but the host is. */
export const WELCOME = `
sub welcome {
  return 1 if $family != ${VSOCK_FAMILY};
  my ($port, $cid) = unpack('x4 L L', $_[0]);
  return $cid == ${HOST_CID};
}`;

/**
 * In Perl, which every Debian has. Words: the family; the address of the host, which is called when all doors are open and until it answers, or nothing; then
 * for each door its address and the path of the socket behind it. Addresses are as the kernel reads them, in hexadecimal digits. It says `listening`, then `heard` when the
 * host has answered, or `failed` and why, and ends when its standard input does.
 *
 * Each direction of a connection has at most one piece on its way, and is not read before that is gone: who does not read is not sent more. When one side has
 * ended, what it said last is passed on and both are closed: not everybody who carries vsock knows of connections that have ended in one direction only.
 */
export const BRIDGE_SCRIPT = `
use strict;
use Socket;
use Errno qw(EAGAIN EINTR);
$| = 1;
$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = 'IGNORE';
my ($family, $host, @words) = @ARGV;
my (@doors, @ways);
my $open = 0;
sub failed { print "failed: $_[0]: $!\\n"; exit 1 }
while (my ($address, $path) = splice @words, 0, 2) {
  socket(my $door, $family, SOCK_STREAM, 0) or failed('socket');
  bind($door, pack('H*', $address)) or failed("the address of $path");
  listen($door, 64) or failed("listening for $path");
  $door->blocking(0);
  push @doors, [$door, $path];
}
print "listening\\n";
call() if $host ne '';

sub call {
  my $parent = $$;
  return if fork;
  close $_->[0] for @doors;
  while (getppid() == $parent) {
    socket(my $line, $family, SOCK_STREAM, 0) or exit;
    if (connect($line, pack('H*', $host)) && sysread($line, my $word, 16)) { print "heard\\n"; exit }
    close $line;
    select(undef, undef, undef, 0.1);
  }
  exit;
}
${WELCOME}
sub enter {
  my ($door, $path) = @_;
  my $peer = accept(my $outer, $door) or return;
  return if !welcome($peer) || $open >= ${MAX_BRIDGED};
  socket(my $inner, AF_UNIX, SOCK_STREAM, 0) or return;
  connect($inner, pack_sockaddr_un($path)) or return;
  $_->blocking(0) for $outer, $inner;
  $open += 1;
  my $pair = { sockets => [$outer, $inner], isOpen => 1 };
  push @ways, map { { pair => $pair, from => $_->[0], to => $_->[1], piece => '' } } [$outer, $inner], [$inner, $outer];
}
sub over {
  my ($pair) = @_;
  return if !$pair->{isOpen};
  $pair->{isOpen} = 0;
  $open -= 1;
  close $_ for @{ $pair->{sockets} };
}
sub again { return $!{EAGAIN} || $!{EINTR} }
sub take {
  my ($way) = @_;
  my $got = sysread($way->{from}, $way->{piece}, 65536);
  return if $got;
  over($way->{pair}) if defined $got || !again();
}
sub give {
  my ($way) = @_;
  my $put = syswrite($way->{to}, $way->{piece});
  if (defined $put) { substr($way->{piece}, 0, $put, '') }
  elsif (!again()) { over($way->{pair}) }
}

for (;;) {
  @ways = grep { $_->{pair}{isOpen} } @ways;
  my ($readable, $writable) = ('', '');
  vec($readable, $_, 1) = 1 for 0, map { fileno $_->[0] } @doors;
  for my $way (@ways) {
    if ($way->{piece} ne '') { vec($writable, fileno $way->{to}, 1) = 1 }
    else { vec($readable, fileno $way->{from}, 1) = 1 }
  }
  next if select($readable, $writable, undef, undef) < 0;
  exit if vec($readable, 0, 1) && !sysread(STDIN, my $word, 4096);
  for my $way (@ways) {
    next if !$way->{pair}{isOpen};
    if ($way->{piece} ne '') { give($way) if vec($writable, fileno $way->{to}, 1) }
    elsif (vec($readable, fileno $way->{from}, 1)) { take($way); give($way) if $way->{pair}{isOpen} && $way->{piece} ne '' }
  }
  for (@doors) { enter(@$_) if vec($readable, fileno $_->[0], 1) }
}
`;
