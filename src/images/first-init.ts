/**
 * What runs first in a guest, from memory: loads the drivers, puts a writable layer in memory over the read-only root, brings the guest
 * agent there and hands over. Pure. docs/designs/0007-vm.md lists the words of the kernel's command line that it reads.
 */

/** The programs of busybox that it calls, as links of an archive. */
export const FIRST_INIT_PROGRAMS = ['sh', 'mount', 'mkdir', 'insmod', 'switch_root', 'cp', 'cat', 'usleep', 'poweroff'] as const;

export const FIRST_INIT = `#!/bin/sh
PATH=/bin
bus=any
scratch=50%
vsock=no

fail() {
  echo "agentiso: $1"
  poweroff -f
}

# The serial number that the host gave a disk is its name: which one is found first is up to the machine.
find_disk() {
  for disk in /sys/block/vd*; do
    serial=
    [ -r "$disk/serial" ] && read -r serial < "$disk/serial"
    [ "$serial" = "$1" ] && found=/dev/\${disk##*/} && return 0
  done
  return 1
}

mount -t devtmpfs devtmpfs /dev && mount -t proc proc /proc && mount -t sysfs sysfs /sys || fail "no devtmpfs, proc or sysfs"
exec </dev/console >/dev/console 2>&1

set -f
read -r line < /proc/cmdline
for word in $line; do
  case "$word" in
    aiso.bus=*) bus=\${word#*=} ;;
    aiso.scratch=*) scratch=\${word#*=} ;;
    aiso.vsock) vsock=yes ;;
  esac
done
set +f

while read -r on module; do
  case "$on:$bus:$vsock" in
    vsock:*:no) ;;
    vsock:* | any:* | *:any:* | mmio:mmio:* | pci:pci:*) insmod "/modules/$module" || echo "agentiso: $module was not loaded" ;;
  esac
done < /modules/list

# Disks appear a moment after their driver.
tries=0
until find_disk root || [ $tries -ge 200 ]; do
  tries=$((tries + 1))
  usleep 25000
done
[ -n "$found" ] || found=/dev/vda

mount -t ext4 -o ro "$found" /ro || fail "the root disk $found cannot be mounted"
mount -t tmpfs -o "size=$scratch,mode=755" scratch /rw && mkdir /rw/upper /rw/work || fail "no memory for the writable layer"
mount -t overlay -o lowerdir=/ro,upperdir=/rw/upper,workdir=/rw/work overlay /newroot || fail "no writable layer over the root"
mount -t tmpfs -o mode=755 run /newroot/run && cp -a /guest /newroot/run/agentiso || fail "the guest agent cannot be put in place"
mount --move /dev /newroot/dev
mount --move /proc /newroot/proc
mount --move /sys /newroot/sys
exec switch_root /newroot /run/agentiso/init
`;
