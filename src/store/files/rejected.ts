/** Refused texts, kept beside the file they were meant for. Nothing a person wrote is ever overwritten. */
import { lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export function rejectedPath(path: string): string {
  return `${path}.rejected`;
}

export function keepRejected(path: string, text: string): void {
  const target = rejectedPath(path);
  const stat = statOf(target);
  if (stat) {
    if (stat.isFile() && readFileSync(target, 'utf8') === text) return;
    renameSync(target, freePath(target));
  }
  // Never through a link that somebody puts there in this moment.
  writeFileSync(target, text, { mode: 0o600, flag: 'wx' });
}

/** For what cannot be read as text: the thing itself moves. */
export function setAside(path: string): void {
  renameSync(path, freePath(rejectedPath(path)));
}

function freePath(path: string): string {
  if (!statOf(path)) return path;
  for (let number = 1; ; number++) if (!statOf(`${path}.${number}`)) return `${path}.${number}`;
}

/** Of the name itself: a link that leads nowhere is there all the same. */
function statOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}
