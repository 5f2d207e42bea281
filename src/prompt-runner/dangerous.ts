/**
 * Commands that no agent runs with our permission, whatever its rules say. The walls of the workspace are what protects; this is a second
 * line, for what an agent asks about before it does it. Pure.
 */

interface Danger {
  readonly what: string;
  readonly pattern: RegExp;
}

const DANGERS: readonly Danger[] = [
  { what: 'force push', pattern: /\bgit\b[^|;&\n]*\bpush\b[^|;&\n]*(?:\s--force|\s-[a-zA-Z]*f\b|\s\+\S)/ },
  { what: 'hard reset', pattern: /\bgit\b[^|;&\n]*\breset\b[^|;&\n]*\s--hard\b/ },
  {
    what: 'recursive forced removal',
    pattern: /\brm\b(?=[^|;&\n]*\s(?:-[a-zA-Z]*[rR]|--recursive))(?=[^|;&\n]*\s(?:-[a-zA-Z]*f|--force))/,
  },
  {
    what: 'write to a raw device',
    pattern:
      /\bdd\b[^|;&\n]*\bof=\/dev\/(?!null|stdout|stderr|fd\/)|>\s*\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|loop|mapper)|\bmkfs(?:\.\w+)?\b/,
  },
  {
    what: 'destructive SQL',
    pattern: /\bdrop\s+(?:table|database|schema)\b|\btruncate\s+table\b|\bdelete\s+from\s+[\w."`]+\s*(?:;|$|['"])/i,
  },
  {
    what: 'power-off',
    pattern:
      /(?:^|[;&|\n(]|\bsudo\s+)\s*(?:\S*\/)?(?:shutdown|poweroff|reboot|halt)\b|\binit\s+[06]\b|\bsystemctl\s+(?:poweroff|reboot|halt)\b/,
  },
];

/** What is dangerous about it; undefined: nothing that is known here. */
export function dangerOf(command: string): string | undefined {
  return DANGERS.find(({ pattern }) => pattern.test(command))?.what;
}
