/** Whose a path is, in words for a message. */
import { readFileSync, statSync } from 'node:fs';

/** `user root`; undefined when even that cannot be seen. */
export function ownerOf(path: string): string | undefined {
  try {
    const { uid } = statSync(path);
    return `user ${nameOf(uid) ?? uid}`;
  } catch {
    return undefined;
  }
}

function nameOf(uid: number): string | undefined {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    return lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid))?.[0];
  } catch {
    return undefined;
  }
}
