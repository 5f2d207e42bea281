/**
 * Commands that ask the daemon something and print the answer are run from small programs of one file: to find and load the modules
 * of the whole one takes longer than everything else they do. Pure.
 */

/** They read no YAML and know no schema, unless a flag says otherwise. */
const QUICK = ['describe', 'explain', 'events', 'api-resources', 'auth', 'version', 'delete', 'label', 'annotate', 'wait', 'mcp'];
const NEEDS_MORE = ['--filename', '--kubeconfig', '--context', '--help', '--patch-file'];

/** `get` is typed more often than all others together, and does not load what only they need. */
export type ProgramName = 'get' | 'quick' | 'full';

export function programOf(argv: readonly string[]): ProgramName {
  const [name = ''] = argv;
  if ((name !== 'get' && !QUICK.includes(name)) || argv.some(needsMore)) return 'full';
  return name === 'get' ? 'get' : 'quick';
}

/** `-f` may stand in the middle of others: `-Rf team.yaml`. */
function needsMore(word: string): boolean {
  if (word.startsWith('--')) return NEEDS_MORE.some((flag) => word === flag || word.startsWith(`${flag}=`));
  return /^-[A-Za-z]*[fh]/.test(word);
}
