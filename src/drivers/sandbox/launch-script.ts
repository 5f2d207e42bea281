/**
 * The launcher: joins the control groups, makes the mounts that take root, then runs what follows `--` and waits for it. It stays because
 * bubblewrap ends with its parent: whoever ends the launcher, even by SIGKILL, ends everything in the sandbox. Every value is a positional
 * parameter, none is ever part of the text.
 *
 * As root the folder is bound to /mnt, for its parents are closed to the uid that bubblewrap runs as. The mount namespace is the
 * launcher's own, so nothing has to be unmounted later.
 */
export const LAUNCH_SCRIPT = `
folder=$1 overlay=$2 node=$3 tools=$4
shift 4
while [ "$1" != -- ]; do
  echo 0 > "$1" || exit 125
  shift
done
shift
ulimit -c 0
ulimit -n 4096 2> /dev/null
if [ -n "$folder" ]; then
  cd "$folder" || exit 125
  if [ "$overlay" = now ]; then
    mount -i -t overlay overlay -o lowerdir=base,upperdir=upper,workdir=work,nosuid,nodev merged || exit 125
  fi
  if [ -n "$node" ]; then
    mount --bind "$node" node || exit 125
  fi
  if [ -n "$tools" ]; then
    mount --bind "$tools" tools || exit 125
  fi
  mount --rbind . /mnt || exit 125
  if [ "$overlay" = later ]; then
    mount --make-shared /mnt || exit 125
  fi
  cd /
fi
"$@"
exit $?
`;

/** Mounts the overlay of a member of the pool that has got its base; run in the launcher's mount namespace. */
export const LATE_OVERLAY_SCRIPT =
  'cd /mnt && exec mount -i -t overlay overlay -o lowerdir=base,upperdir=upper,workdir=work,nosuid,nodev merged';
