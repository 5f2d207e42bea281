/** How a guest is reached by sockets of a family that Node does not know: a process joins each of their connections with one to a unix socket. Pure. */
import { HOST_CID, LAST_RESERVED_PORT, VSOCK_FAMILY } from '#protocol/vsock.ts';

/** At once, in all. */
export const MAX_BRIDGED = 128;

/**
 * In Perl, which every Debian has. Words: the family, then for each door its address as the kernel reads it, in hexadecimal digits, and the path of the
 * socket behind it. It says `listening`, or `failed` and why, and ends when its standard input does.
 *
 * Each direction of a connection has at most one piece on its way, and is not read before that is gone: who does not read is not sent more. It ends by itself.
 * Where bytes cannot be passed on any more, both sides are closed.
 *
 * Over vsock only root of the host comes in: from its cid, by a port that nobody else can have.
 */
export const BRIDGE_SCRIPT = `
use strict;
use Socket;
use Errno qw(EAGAIN EINTR);
$| = 1;
$SIG{PIPE} = 'IGNORE';
my ($family, @words) = @ARGV;
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

sub welcome {
  return 1 if $family != ${VSOCK_FAMILY};
  my ($port, $cid) = unpack('x4 L L', $_[0]);
  return $cid == ${HOST_CID} && $port <= ${LAST_RESERVED_PORT};
}
sub enter {
  my ($door, $path) = @_;
  my $peer = accept(my $outer, $door) or return;
  return if !welcome($peer) || $open >= ${MAX_BRIDGED};
  socket(my $inner, AF_UNIX, SOCK_STREAM, 0) or return;
  connect($inner, pack_sockaddr_un($path)) or return;
  $_->blocking(0) for $outer, $inner;
  $open += 1;
  my $pair = { sockets => [$outer, $inner], isOpen => 1, ended => 0 };
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
  if (!defined $got) { over($way->{pair}) if !again(); return }
  $way->{isEnded} = 1;
  shutdown($way->{to}, 1);
  over($way->{pair}) if ++$way->{pair}{ended} == 2;
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
    elsif (!$way->{isEnded}) { vec($readable, fileno $way->{from}, 1) = 1 }
  }
  next if select($readable, $writable, undef, undef) < 0;
  exit if vec($readable, 0, 1) && !sysread(STDIN, my $word, 4096);
  for my $way (@ways) {
    next if !$way->{pair}{isOpen};
    if ($way->{piece} ne '') { give($way) if vec($writable, fileno $way->{to}, 1) }
    elsif (!$way->{isEnded} && vec($readable, fileno $way->{from}, 1)) { take($way); give($way) if $way->{pair}{isOpen} && $way->{piece} ne '' }
  }
  for (@doors) { enter(@$_) if vec($readable, fileno $_->[0], 1) }
}
`;
