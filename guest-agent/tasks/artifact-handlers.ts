/** artifactRead: the whole output of an attempt, for the host, which asks before it acknowledges the result. */
import { pipeline } from 'node:stream/promises';
import type { ControlHandlers } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import { openArtifact } from './artifacts.ts';
import { SAFE_UID } from './assignment.ts';

export function artifactHandlers({ stateDir }: Pick<Guest, 'stateDir'>): Pick<ControlHandlers, 'artifactRead'> {
  return {
    async artifactRead({ taskUid, attempt, name }, { signal, down }) {
      if (!SAFE_UID.test(taskUid)) throw new ProtocolError('Invalid', 'taskUid is no uid');
      const missing = (error: unknown) => {
        throw new ProtocolError('NotFound', `${name} of ${taskUid}/${attempt} is not kept here`, error);
      };
      const handle = await openArtifact(stateDir, { taskUid, attempt }, name).catch(missing);
      try {
        const stats = await handle.stat();
        if (!stats.isFile()) return missing(undefined);
        if (stats.size > 0) {
          // No more than it had when it was asked for.
          const content = handle.createReadStream({ start: 0, end: stats.size - 1, autoClose: false });
          await pipeline(content, down.content, { signal, end: false });
        }
        return { sizeBytes: stats.size };
      } finally {
        await handle.close();
      }
    },
  };
}
