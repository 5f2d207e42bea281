/** Files of a workspace, carried in pieces. The guest says what is inside of it and what is not. */
import { buffer } from 'node:stream/consumers';
import type { Session } from '#guest/sessions.ts';
import type { WorkspaceFile, WorkspaceIo } from '#mcp/workspace-io.ts';
import type { FileInfo } from '#protocol/control.ts';

type FileOf<M extends 'readFile' | 'writeFile'> = Parameters<WorkspaceIo[M]>[1];

export async function readFile(
  session: Session,
  file: FileOf<'readFile'>,
  signal: AbortSignal,
): Promise<{ content: Buffer; size: number }> {
  const { result, down } = session.open('fileRead', file, { signal });
  // Why a content broke off is said by the result.
  const content = buffer(down.content).catch(() => Buffer.alloc(0));
  const { size } = await result;
  return { content: await content, size };
}

export async function writeFile(session: Session, { content, ...file }: FileOf<'writeFile'>, signal: AbortSignal): Promise<void> {
  const { result, up } = session.open('fileWrite', { ...file, makeParents: true }, { signal });
  up.content.end(content);
  await result;
}

export function toWorkspaceFile({ name, kind, size, mode, modified }: FileInfo): WorkspaceFile {
  return { name, kind, size, permissions: mode.toString(8).padStart(3, '0'), modified };
}
