import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { linkLines, SET_UP_SCRIPT, WARM_UP_SCRIPT } from './script.ts';

describe('the set-up of a machine', () => {
  it.each([SET_UP_SCRIPT, WARM_UP_SCRIPT])('is a script that Perl can read', (script) => {
    const { status, stderr } = spawnSync('perl', ['-c', '-e', script], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '-e syntax OK\n' });
  });

  it('reseeds before it does anything else', () => {
    const steps = [...SET_UP_SCRIPT.matchAll(/step '(\w+)'/g)].map(([, step]) => step);
    expect(steps).toEqual(['randomness', 'clock', 'network', 'disk', 'tools']);
  });

  it('gives the device its address, its gateway and nobody else', () => {
    const link = { address: '10.99.1.2', mac: '52:54:00:00:01:02', gateway: '10.99.0.1', gatewayMac: '52:54:00:00:00:01' };
    expect(linkLines(link)).toEqual([
      'link set lo up',
      'link set eth0 down',
      'link set eth0 address 52:54:00:00:01:02',
      'link set eth0 addrgenmode none',
      'link set eth0 up',
      'addr replace 10.99.1.2/32 dev eth0',
      'route replace 10.99.0.1 dev eth0 scope link',
      'neigh replace 10.99.0.1 lladdr 52:54:00:00:00:01 dev eth0 nud permanent',
      'route replace default via 10.99.0.1 dev eth0',
    ]);
  });
});
