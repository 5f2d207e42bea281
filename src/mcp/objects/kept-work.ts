/** What was rescued of agents that went: their commits and files that are nowhere else. */
import { listRescued, type Rescued } from '#client/rescue.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { AgentisoError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { ToolCall } from '../tool.ts';

export interface KeptWork {
  readonly agent: string;
  readonly ref: string;
  readonly id?: string;
  readonly commits?: number;
  readonly files?: number;
}

/** Of a Team or Agent that goes, as it was seen last. */
export async function keptOf(call: Pick<ToolCall, 'connection' | 'signal'>, last: ApiObject): Promise<readonly KeptWork[]> {
  if (last.kind !== 'Team' && last.kind !== 'Agent') return [];
  const { uid } = last.metadata;
  const all = await rescuedIn(call);
  const found = all
    .filter(({ teamUid, work }) => (last.kind === 'Team' ? teamUid === uid : work.id === uid))
    .map(({ work }) => toKept(work));
  return found.length > 0 ? found : ownWords(last);
}

interface Kept {
  readonly teamUid: string;
  readonly work: Rescued;
}

/** Where nobody can tell, nothing is said: what was to go is gone all the same. */
async function rescuedIn(call: Pick<ToolCall, 'connection' | 'signal'>): Promise<readonly Kept[]> {
  try {
    return (await listRescued(call)).flatMap(({ teamUid, rescued }) => rescued.map((work) => ({ teamUid, work })));
  } catch (error) {
    if (error instanceof AgentisoError) return [];
    throw error;
  }
}

function toKept({ id, agent, ref, commits, files }: Rescued): KeptWork {
  return { id, agent, ref, commits, files };
}

/** An Agent says so itself before it goes. */
function ownWords({ kind, metadata, status }: ApiObject): readonly KeptWork[] {
  const ref = isObject(status) ? status['rescued'] : undefined;
  return kind === 'Agent' && typeof ref === 'string' ? [{ agent: metadata.name ?? '', ref }] : [];
}
