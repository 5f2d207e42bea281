/**
 * Whether Node makes faster code of what runs often. On an emulated processor the compiler itself is the slowest part of a start, and in a
 * copy of a machine every part of it that runs has to be translated anew: it waits until the machine is somebody's and at work.
 */

/** Both compilers of V8. */
const NAMES = ['opt', 'sparkplug'];

export function stopOptimising(): void {
  set(NAMES.map((name) => `--no-${name}`));
}

/** As it was: code that was compiled earlier belongs to the settings that it was compiled with. */
export function startOptimising(): void {
  set(NAMES.map((name) => `--${name}`));
}

function set(flags: readonly string[]): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of flags) setFlagsFromString(flag);
}
