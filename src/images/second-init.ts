/**
 * The first process of a guest once its root is there: makes what programs expect of a Linux system, mounts the disk of the workspace,
 * starts the guest agent, reaps whatever loses its parent, and turns the machine off when the guest agent has ended. Pure.
 * docs/designs/0007-vm.md lists the words of the kernel's command line that it reads.
 */

export const SECOND_INIT = `#!/bin/busybox sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb SHELL=/bin/sh
user=root
console=console
hostname=agentiso

say() {
  echo "agentiso: $1"
}

# Nobody else may write any more: what is on the disk must be whole.
end() {
  say "$1"
  cd /
  kill -KILL -1 2>/dev/null
  busybox sync
  tries=0
  while busybox grep -q " /run/agentiso/disk " /proc/mounts && [ $tries -lt 40 ]; do
    for place in /workspace /var/lib/agentiso "$HOME" /run/agentiso/disk; do busybox umount "$place" 2>/dev/null; done
    tries=$((tries + 1))
    busybox usleep 25000
  done
  # At once: the usual way makes the kernel reset its devices first, and QEMU 7.2 crashes when those of a copy are reset. It takes this for the end.
  echo b > /proc/sysrq-trigger
  busybox poweroff -f
}

find_disk() {
  for disk in /sys/block/vd*; do
    serial=
    [ -r "$disk/serial" ] && read -r serial < "$disk/serial"
    [ "$serial" = "$1" ] && found=/dev/\${disk##*/} && return 0
  done
  return 1
}

# One folder of the disk for each place, so that none of them can be mistaken for another.
keep() {
  busybox mkdir -p "/run/agentiso/disk/$1" "$2" && busybox chown "$user:$user" "/run/agentiso/disk/$1" &&
    busybox mount --bind "/run/agentiso/disk/$1" "$2" || end "$2 cannot be put on the workspace's disk"
}

# Words are taken as they are, whatever file names they look like.
set -f --
read -r line < /proc/cmdline
for word in $line; do
  value=\${word#*=}
  case "$word" in
    aiso.id=*) set -- "$@" --id "$value" ;;
    aiso.incarnation=*) set -- "$@" --incarnation "$value" ;;
    aiso.pool) set -- "$@" --pool ;;
    aiso.egress) set -- "$@" --egress ;;
    aiso.arg=*) set -- "$@" "$value" ;;
    aiso.clock=*) busybox date -s "@$value" >/dev/null ;;
    aiso.user=*) user=$value ;;
    aiso.hostname=*) hostname=$value ;;
    aiso.address=*) address=$value ;;
    aiso.gateway=*) gateway=$value ;;
    aiso.nameserver=*) echo "nameserver $value" > /etc/resolv.conf ;;
    aiso.console=*) console=$value ;;
  esac
done
set +f
export USER="$user" LOGNAME="$user"
[ "$user" = root ] && export HOME=/root || export HOME=/home/$user

busybox mkdir -p /dev/pts /dev/shm /dev/virtio-ports /workspace /var/lib/agentiso
busybox mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
busybox mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm
busybox mount -t tmpfs -o mode=1777,nosuid,nodev tmp /tmp
busybox ln -sfn /proc/self/fd /dev/fd
busybox ln -sfn /proc/self/fd/0 /dev/stdin
busybox ln -sfn /proc/self/fd/1 /dev/stdout
busybox ln -sfn /proc/self/fd/2 /dev/stderr
# Who turns this machine off asks nobody: what programs write is on its way to the disk within a second (the disk's own memory: machine/script.ts).
echo 50 > /proc/sys/vm/dirty_expire_centisecs
echo 25 > /proc/sys/vm/dirty_writeback_centisecs
[ -c "/dev/$console" ] && exec </dev/null >"/dev/$console" 2>&1

for port in /sys/class/virtio-ports/*; do
  name=
  [ -r "$port/name" ] && read -r name < "$port/name"
  [ -n "$name" ] && busybox ln -sfn "../\${port##*/}" "/dev/virtio-ports/$name"
  [ -n "$name" ] && busybox chown "$user" "/dev/\${port##*/}"
done

echo "$hostname" > /proc/sys/kernel/hostname
echo "$hostname" > /etc/hostname
echo "127.0.1.1 $hostname" >> /etc/hosts
busybox ip link set lo up
if [ -n "$address" ]; then
  busybox ip address add "$address" dev eth0 && busybox ip link set eth0 up || end "the address $address cannot be set"
  # The gateway of a /32 is on no network of ours: the link itself leads there.
  [ -n "$gateway" ] && busybox ip route add "$gateway" dev eth0 && busybox ip route add default via "$gateway" dev eth0
fi

if find_disk workspace; then
  busybox mkdir -p /run/agentiso/disk
  busybox mount -t ext4 -o nosuid,nodev,noatime "$found" /run/agentiso/disk || end "the workspace's disk $found cannot be mounted"
  keep workspace /workspace
  keep state /var/lib/agentiso
  keep home "$HOME"
fi
busybox chown "$user:$user" /run/agentiso /workspace /var/lib/agentiso

# By its path: this shell would take its own.
as=
[ "$user" = root ] || as="/usr/bin/setpriv --reuid=$user --regid=$user --init-groups --"
cd /workspace || end "there is no /workspace"
say "starting the guest agent"
$as node /run/agentiso/guest-agent.cjs "$@" --run /run/agentiso --state /var/lib/agentiso --workspace /workspace --home "$HOME" &
# The shell takes the end of every child, also of those that were not its own, until this one has ended.
wait $!
end "the guest agent ended with $?"
`;
