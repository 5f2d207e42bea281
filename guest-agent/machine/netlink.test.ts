import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { requires } from '../../test/support/requirements.ts';
import { linkMessages, upMessages } from './netlink.ts';

const LINK = { address: '10.99.1.2', mac: '52:54:00:00:01:02', gateway: '10.99.0.1', gatewayMac: '52:54:00:00:00:01' };
const APART = ['--user', '--map-root-user', '--net', '--'];
/** As script.ts does it: gives the number and the error of the last answer. */
const SEND = `for (@ARGV) {
  socket(my $kernel, 16, 3, 0) or die; defined send($kernel, pack('H*', $_), 0) or die; recv($kernel, my $answer, 4096, 0);
  print join(' ', (unpack('L S S L L l', $answer))[3, 5]), "\\n";
}`;

requires(spawnSync('unshare', [...APART, 'ip', 'link']).status === 0, 'network namespaces')('what the kernel is told', () => {
  it('gives the device its address, its gateway and nobody else', () => {
    const script = `ip link add eth0 index 7 type veth peer name other && ip link set eth0 addrgenmode none && ip link set other up && perl -e "$0" "$@"
      ip -o link show eth0; ip -o addr show eth0; ip route; ip neigh`;
    const messages = [upMessages(7), linkMessages(7, LINK)].map((bytes) => bytes.toString('hex'));
    const { stdout, stderr } = spawnSync('unshare', [...APART, 'sh', '-c', script, SEND, ...messages], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^1 0\n5 0\n7: eth0@other: <[^>]*\bUP\b.* link\/ether 52:54:00:00:01:02 /);
    const rest = stdout
      .split('\n')
      .slice(3)
      .map((line) => line.trim().replaceAll(/\s+/g, ' '));
    expect(rest).toEqual([
      expect.stringMatching(/^7: eth0 inet 10\.99\.1\.2\/32 scope global eth0/),
      'default via 10.99.0.1 dev eth0',
      '10.99.0.1 dev eth0 scope link',
      '10.99.0.1 dev eth0 lladdr 52:54:00:00:00:01 PERMANENT',
      '',
    ]);
  });

  it('says which part the kernel did not take', () => {
    const script = 'ip link add eth0 index 7 type veth peer name other && perl -e "$0" "$@"';
    const { stdout } = spawnSync('unshare', [...APART, 'sh', '-c', script, SEND, linkMessages(7, LINK).toString('hex')], {
      encoding: 'utf8',
    });
    // The device is down: the route to the gateway comes third.
    expect(stdout).toMatch(/^3 -\d+\n$/);
  });
});
