/** Many objects read by one `git cat-file --batch`. */
import { GitError, type GitOptions, tryGit } from './run.ts';

export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

/** In the order asked for; an object that is not there is left out. */
export async function readObjects(ids: readonly string[], options: GitOptions): Promise<GitObject[]> {
  if (ids.length === 0) return [];
  const args = ['cat-file', '--batch'];
  const outcome = await tryGit(args, { ...options, input: `${ids.join('\n')}\n` });
  if (outcome.code !== 0) throw new GitError(args, outcome);
  return [...parseBatch(outcome.stdout)];
}

function* parseBatch(output: Buffer): Generator<GitObject> {
  for (let at = 0; at < output.length; ) {
    const lineEnd = output.indexOf('\n', at);
    const [id = '', type = '', size = ''] = output.subarray(at, lineEnd).toString().split(' ');
    at = lineEnd + 1;
    if (type === 'missing') continue;
    yield { id, type, content: output.subarray(at, at + Number(size)) };
    at += Number(size) + 1;
  }
}
