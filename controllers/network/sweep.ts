/** What a crash or another daemon left behind: links without an agent, numbers of objects that are gone. */
import type { Agent, Team } from '#api/types.ts';
import type { Sweep } from '#runtime/controller.ts';
import type { NumberTable, RefreshDeps } from './refresh.ts';

const EVERY_MS = 5 * 60 * 1_000;

export function networkSweep({ client, network, numbers }: RefreshDeps): Sweep {
  return {
    name: 'network',
    everyMs: EVERY_MS,
    async sweep({ log, signal }) {
      // Links and numbers first: an object is always older than they are, so the lists that follow cannot miss an owner.
      const links = await network.listLinks(signal);
      const seen = { agents: [...numbers.entries('agents').keys()], teams: [...numbers.entries('teams').keys()] };
      const [agents, teams] = [await client.list<Agent>('Agent'), await client.list<Team>('Team')];
      await releaseNumbers(numbers, seen, { agents: agents.items, teams: teams.items });
      for (const agent of links) {
        // Asked anew each time: while one link is removed, the number of the next may find an owner.
        if ([...numbers.entries('agents').values()].includes(agent)) continue;
        log.info({ agent }, 'link without an agent removed');
        await network.removeLink(agent, signal);
      }
    },
  };
}

/** A team's number, being the user id of its files, also stays for as long as there is an agent that it made. */
async function releaseNumbers(
  numbers: NumberTable,
  seen: { readonly agents: readonly string[]; readonly teams: readonly string[] },
  { agents, teams }: { readonly agents: readonly Agent[]; readonly teams: readonly Team[] },
): Promise<void> {
  const owners = agents.flatMap(({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid));
  const living = { agents: new Set(agents.map(uidOf)), teams: new Set([...teams.map(uidOf), ...owners]) };
  const gone = (kind: 'agents' | 'teams') => seen[kind].filter((uid) => !living[kind].has(uid));
  await Promise.all((['agents', 'teams'] as const).flatMap((kind) => gone(kind).map((uid) => numbers.release(kind, uid))));
}

function uidOf({ metadata }: Agent | Team): string {
  return metadata.uid;
}
