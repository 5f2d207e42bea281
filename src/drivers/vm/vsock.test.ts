import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chooseTransport, findVsock, VSOCK_DAEMON } from './vsock.ts';

let folder: string;
const program = () => join(folder, VSOCK_DAEMON);
const install = (mode = 0o755) => writeFileSync(program(), '', { mode });
const variables = (values: Readonly<Record<string, string>>) => (name: string) => values[name];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-vsock-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('how machines are reached', () => {
  it.each([undefined, '', 'virtio-serial'])('is by virtio ports where %j is asked for', (asked) => {
    expect(chooseTransport((name) => (name === 'AGENTISO_VM_TRANSPORT' ? asked : undefined))).toEqual({ name: 'virtio-serial' });
  });

  it('is by vsock where that is asked for and there', () => {
    install();
    expect(chooseTransport(variables({ AGENTISO_VM_TRANSPORT: 'vsock', PATH: folder }))).toEqual({ name: 'vsock', program: program() });
  });

  it('is no other way than the one that is asked for', () => {
    expect(chooseTransport(variables({ AGENTISO_VM_TRANSPORT: 'vsock', PATH: folder }))).toEqual({
      problem: 'there is no vhost-device-vsock, which vsock needs',
      hint: expect.stringContaining('cargo install vhost-device-vsock'),
    });
    expect(chooseTransport(variables({ AGENTISO_VM_TRANSPORT: 'pigeon' }))).toEqual({
      problem: 'AGENTISO_VM_TRANSPORT is pigeon',
      hint: 'there are virtio-serial and vsock; set one and restart the daemon',
    });
  });
});

describe('the program that has the vsock of machines', () => {
  it('is the first in the path that can be run', () => {
    for (const name of ['empty', 'folder', 'text']) mkdirSync(join(folder, name));
    mkdirSync(join(folder, 'folder', VSOCK_DAEMON));
    writeFileSync(join(folder, 'text', VSOCK_DAEMON), '', { mode: 0o644 });
    install();
    const path = ['', ...['empty', 'folder', 'text', '.'].map((name) => join(folder, name))].join(':');
    expect(findVsock(variables({ PATH: path }))).toEqual({ program: program() });
  });

  it('is the one that is named, and no other', () => {
    install();
    const other = join(folder, 'other');
    expect(findVsock(variables({ PATH: folder, AGENTISO_VHOST_VSOCK: other }))).toMatchObject({
      problem: `there is no ${other}, which vsock needs`,
    });
    writeFileSync(other, '', { mode: 0o755 });
    expect(findVsock(variables({ PATH: folder, AGENTISO_VHOST_VSOCK: other }))).toEqual({ program: other });
  });

  it('must be for others to run where it is started with the rights of others', () => {
    install(0o750);
    expect(findVsock(variables({ PATH: folder }), true)).toMatchObject({ hint: `chmod 755 ${program()}` });
    expect(findVsock(variables({ PATH: folder }), false)).toEqual({ program: program() });
  });
});
