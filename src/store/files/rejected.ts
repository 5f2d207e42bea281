/** Refused texts, kept beside the file they were meant for. Nothing a person wrote is ever overwritten. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export function rejectedPath(path: string): string {
  return `${path}.rejected`;
}

export function keepRejected(path: string, text: string): void {
  const target = rejectedPath(path);
  if (existsSync(target)) {
    if (readFileSync(target, 'utf8') === text) return;
    renameSync(target, freePath(target));
  }
  writeFileSync(target, text, { mode: 0o600 });
}

/** For what cannot be read as text: the thing itself moves. */
export function setAside(path: string): void {
  renameSync(path, freePath(rejectedPath(path)));
}

function freePath(path: string): string {
  if (!existsSync(path)) return path;
  for (let number = 1; ; number++) if (!existsSync(`${path}.${number}`)) return `${path}.${number}`;
}
