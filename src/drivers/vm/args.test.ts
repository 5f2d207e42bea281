import { describe, expect, it } from 'vitest';
import { type MachinePlan, qemuArguments } from './args.ts';

const PLAN: MachinePlan = { board: 'microvm', accel: 'tcg', tscKhz: 2_793_436, vcpus: 1, memoryMiB: 256, hasNetwork: true };

describe('the command line of QEMU', () => {
  it('is this for an emulated machine with a network', () => {
    expect(qemuArguments(PLAN)).toMatchInlineSnapshot(`
      [
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-sandbox",
        "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
        "-M",
        "microvm,memory-backend=memory",
        "-accel",
        "tcg,thread=multi,tb-size=32",
        "-cpu",
        "max",
        "-smp",
        "1",
        "-m",
        "256M",
        "-object",
        "memory-backend-ram,id=memory,size=256M",
        "-kernel",
        "/machine/kernel",
        "-initrd",
        "/machine/initrd",
        "-append",
        "console=ttyS0 quiet panic=-1 reboot=t 8250.nr_uarts=1 audit=0 nowatchdog cryptomgr.notests rcupdate.rcu_expedited=1 mitigations=off init_on_alloc=0 nokaslr lsm= no_timer_check tsc=reliable tsc_early_khz=2793436 aiso.bus=mmio aiso.pool aiso.arg=--ports aiso.arg=/dev/virtio-ports aiso.clock=3786912000",
        "-chardev",
        "stdio,id=console,signal=off",
        "-serial",
        "chardev:console",
        "-qmp",
        "unix:qmp.sock,server=on,wait=off",
        "-device",
        "virtio-serial-device,max_ports=4",
        "-chardev",
        "socket,id=control,path=control.sock,server=on,wait=off",
        "-device",
        "virtserialport,chardev=control,name=agentiso.control,nr=1",
        "-chardev",
        "socket,id=relay,path=relay.sock,server=on,wait=off",
        "-device",
        "virtserialport,chardev=relay,name=agentiso.relay,nr=2",
        "-chardev",
        "socket,id=egress,path=egress-port.sock,server=on,wait=off",
        "-device",
        "virtserialport,chardev=egress,name=agentiso.egress,nr=3",
        "-drive",
        "if=none,id=root,file=/machine/root,format=raw,readonly=on",
        "-device",
        "virtio-blk-device,drive=root,serial=root",
        "-drive",
        "if=none,id=disk,file=/machine/disk,format=raw,discard=unmap,detect-zeroes=unmap",
        "-device",
        "virtio-blk-device,drive=disk,serial=agentiso-disk",
        "-netdev",
        "tap,id=net,ifname=tap0,script=no,downscript=no",
        "-device",
        "virtio-net-device,netdev=net",
      ]
    `);
  });

  it('is on pci where the board has no other bus', () => {
    const line = qemuArguments({ ...PLAN, board: 'q35' }).join(' ');
    expect(line).toContain('-M q35,usb=off,smbus=off,sata=off,memory-backend=memory ');
    expect(line).toContain('aiso.bus=pci');
    expect(line).not.toMatch(/-device virtio-\w+-device|tsc_early_khz|tsc=|no_timer_check/);
  });

  it('weakens the guest only where every instruction is emulated', () => {
    const line = qemuArguments({ ...PLAN, accel: 'kvm' }).join(' ');
    expect(line).toContain('-accel kvm -cpu host');
    expect(line).not.toMatch(/mitigations=off|nokaslr|lsm=|init_on_alloc=0/);
  });

  it('has no network device where there is no network', () => {
    expect(qemuArguments({ ...PLAN, hasNetwork: false }).join(' ')).not.toMatch(/netdev|virtio-net/);
  });

  it('is the same for a template and its copies, but for who may write to the memory', () => {
    const [template, copy] = (['template', 'copy'] as const).map((memory) => qemuArguments({ ...PLAN, memory }));
    const object = (share: string) => `memory-backend-file,id=memory,size=256M,mem-path=/machine/memory,share=${share}`;
    expect(template).toContain(object('on'));
    expect(copy).toEqual([...(template ?? []).map((word) => (word === object('on') ? object('off') : word)), '-incoming', 'defer']);
  });

  it.each([
    { board: 'microvm', device: 'vhost-user-vsock-device' },
    { board: 'q35', device: 'vhost-user-vsock-pci' },
  ] as const)('has a vsock device in place of the ports, and memory that its program can share, on $board', ({ board, device }) => {
    const line = qemuArguments({ ...PLAN, board, transport: 'vsock' }).join(' ');
    expect(line).toContain(` -chardev socket,id=vsock,path=vsock-device.sock -device ${device},chardev=vsock `);
    expect(line).toContain(' -object memory-backend-memfd,id=memory,size=256M,share=on ');
    expect(line).toContain(' aiso.vsock aiso.arg=--vsock ');
    expect(line).not.toMatch(/virtio-serial|virtserialport|--ports/);
    expect(qemuArguments({ ...PLAN, board }).join(' ')).not.toContain('vsock');
  });

  it('always denies what a machine does not need of this one', () => {
    for (const board of ['microvm', 'q35'] as const) {
      const line = qemuArguments({ ...PLAN, board }).join(' ');
      expect(line).toContain('-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny');
      expect(line).toContain('-nodefaults -no-user-config');
    }
  });
});
