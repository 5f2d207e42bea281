/**
 * Commands that ask the daemon something and print the answer are run from a small program of one file: to find and load the modules
 * of the whole one takes longer than everything else they do. Pure.
 */

/** They read no YAML and know no schema, unless a flag says otherwise. */
const QUICK = ['get', 'describe', 'explain', 'events', 'api-resources', 'auth', 'version', 'delete', 'label', 'annotate', 'wait', 'mcp'];
const NEEDS_MORE = ['--filename', '--kubeconfig', '--context', '--help', '--patch-file'];

export function isQuick(argv: readonly string[]): boolean {
  const [name = ''] = argv;
  return QUICK.includes(name) && !argv.some(needsMore);
}

/** `-f` may stand in the middle of others: `-Rf team.yaml`. */
function needsMore(word: string): boolean {
  if (word.startsWith('--')) return NEEDS_MORE.some((flag) => word === flag || word.startsWith(`${flag}=`));
  return /^-[A-Za-z]*[fh]/.test(word);
}
