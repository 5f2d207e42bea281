/** tokens.json: which tokens were issued to whom. It holds hashes, so that reading it gives nobody a token. */
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { agentOfUser } from './identity.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

export interface IssuedToken {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  /** Of an agent: `agent:NAMESPACE/TEAM/NAME`. */
  readonly user: string;
  readonly role: 'admin' | 'viewer' | 'agent';
  readonly createdAt: string;
}

/** Raised when older code could misread what newer code wrote. */
const FORMAT = 1;

export async function readTokens(path: string): Promise<IssuedToken[]> {
  const text = await readPrivateFile(path);
  if (text === undefined) return [];
  try {
    return parseTokens(JSON.parse(text));
  } catch (cause) {
    // Going on without them would lock out their holders for good at the next write.
    throw new AgentisoError('IoError', `the token file ${path} cannot be used: ${messageOf(cause)}`, {
      reason: 'TokensUnreadable',
      hint: 'restore the file from a copy, or remove it and issue new tokens; the admin token is not in it',
      cause,
    });
  }
}

export async function writeTokens(path: string, tokens: readonly IssuedToken[]): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify({ format: FORMAT, tokens }, undefined, 2)}\n`);
}

function parseTokens(value: unknown): IssuedToken[] {
  if (!isObject(value) || !Array.isArray(value['tokens'])) throw new Error('it must hold a list of tokens');
  if (value['format'] !== FORMAT) throw new Error(`its format is ${JSON.stringify(value['format'])}, this version reads ${FORMAT}`);
  return value['tokens'].map(parseToken);
}

function parseToken(value: unknown, index: number): IssuedToken {
  const { hash, user, role, createdAt } = isObject(value) ? value : {};
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) throw new Error(`tokens[${index}].hash must be 64 hexadecimal digits`);
  if (typeof user !== 'string' || user === '') throw new Error(`tokens[${index}].user must be a name`);
  if (role !== 'admin' && role !== 'viewer' && role !== 'agent') throw new Error(`tokens[${index}].role must be admin, viewer or agent`);
  if (role === 'agent' && !agentOfUser(user)) throw new Error(`tokens[${index}].user must be agent:NAMESPACE/TEAM/NAME`);
  if (typeof createdAt !== 'string') throw new Error(`tokens[${index}].createdAt must be a time`);
  return { hash, user, role, createdAt };
}
