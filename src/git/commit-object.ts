/** Commits as git stores them. Pure. */
import { createHash } from 'node:crypto';

export interface Commit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  /** As it stands there: name, mail, seconds and zone. */
  readonly author: string;
  /** Lines between committer and message that belong to the content, such as encoding; a signature is of another commit and is left out. */
  readonly encoding?: string;
  /** Bytes, because a commit may say that they are no UTF-8. */
  readonly message: Buffer;
}

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committer: string;
  readonly encoding?: string;
  readonly message: Buffer | string;
}

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** As git writes it; what would end the field or the line cannot be in a name. */
export function signature({ name, email }: Person, at: Date): string {
  const clean = (text: string) => text.replace(/[\n\0<>]/g, '').trim();
  return `${clean(name) || 'unknown'} <${clean(email)}> ${Math.floor(at.getTime() / 1_000)} +0000`;
}

export function parseCommit(id: string, raw: Buffer): Commit {
  const end = raw.indexOf('\n\n');
  const header = raw.subarray(0, end < 0 ? raw.length : end).toString('latin1');
  // A line that begins with a space goes on with the one before.
  const lines = header.split('\n').filter((line) => !line.startsWith(' '));
  const valuesOf = (key: string) => lines.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const [tree = ''] = valuesOf('tree');
  const [author = ''] = valuesOf('author');
  const [encoding] = valuesOf('encoding');
  return {
    id,
    tree,
    parents: valuesOf('parent'),
    author: Buffer.from(author, 'latin1').toString('latin1'),
    ...(encoding !== undefined && { encoding }),
    message: end < 0 ? Buffer.alloc(0) : raw.subarray(end + 2),
  };
}

/** The object as it is hashed and stored: its header, then its content. */
export function encodeCommit({ tree, parents, author, committer, encoding, message }: NewCommit): {
  readonly id: string;
  readonly bytes: Buffer;
} {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${author}`,
    `committer ${committer}`,
    ...(encoding === undefined ? [] : [`encoding ${encoding}`]),
    '',
    '',
  ];
  const text = typeof message === 'string' ? Buffer.from(message.endsWith('\n') ? message : `${message}\n`) : message;
  const content = Buffer.concat([Buffer.from(lines.join('\n'), 'latin1'), text]);
  const bytes = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content]);
  return {
    id: createHash(tree.length === 40 ? 'sha1' : 'sha256')
      .update(bytes)
      .digest('hex'),
    bytes,
  };
}
