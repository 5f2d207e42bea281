/**
 * The cards of agents as files, for everybody who reads the vault. Derived: written by the daemon, never read back, put back when changed.
 * After a start those of agents that were there before are most likely as they were left: they are looked at later, one by one.
 */
import { type Agent, shortName } from '#api/types.ts';
import type { Logger } from '#lib/log.ts';
import type { GeneratedPath, Vault } from '#vault/vault.ts';

export interface Cards {
  write(agent: Agent, card: object): Promise<void>;
  remove(agent: Agent): Promise<void>;
}

export interface CardsOptions {
  readonly vault: Vault;
  readonly log: Logger;
  /** Somebody else had changed the file; it is as it was. */
  readonly onRestored: (agent: Agent, message: string) => void;
  /** After which the cards of agents from before are looked at; absent: longer than a large fleet takes to be found again. */
  readonly firstLookMs?: number;
}

export interface VaultCards extends Cards {
  close(): void;
}

/** An agent made so long before this daemon opened its cards has one of an earlier daemon. */
const LONG_MS = 5_000;
const FIRST_LOOK_MS = 10_000;
/** Nobody waits for these: they take one part in five of the time. */
const PAUSE_FACTOR = 4;

export function openCards({ vault, log, onRestored, firstLookMs = FIRST_LOOK_MS }: CardsOptions): VaultCards {
  const written = new Map<string, { readonly agent: Agent; readonly content: string }>();
  const late = new Map<string, GeneratedPath>();
  const openedMs = Date.now();
  let timer: NodeJS.Timeout | undefined;
  const put = async (place: GeneratedPath, content: string) => vault.writeGenerated(place.namespace, place.team, place.path, content);
  const restore = async (place: GeneratedPath) => {
    const known = written.get(idOf(place));
    if (!known) return;
    await put(place, known.content);
    onRestored(known.agent, restoredMessage(place));
  };
  const unsubscribe = vault.onForeignChange((place) => {
    restore(place).catch((error: unknown) => log.warn({ err: error, ...place }, 'card could not be put back'));
  });
  const lookLater = (delayMs: number) => {
    timer ??= setTimeout(lookAtOne, delayMs).unref();
  };
  const lookAtOne = async () => {
    const [next] = late;
    if (!next) {
      timer = undefined;
      return;
    }
    const [id, place] = next;
    late.delete(id);
    const beganMs = performance.now();
    await put(place, written.get(id)?.content ?? '').catch((error: unknown) => {
      log.warn({ err: error, ...place }, 'card could not be written; it is tried again');
      late.set(id, place);
    });
    if (timer === undefined) return;
    timer = undefined;
    lookLater(late.has(id) ? firstLookMs : (performance.now() - beganMs) * PAUSE_FACTOR);
  };
  return {
    async write(agent, card) {
      const place = placeOf(agent);
      const id = idOf(place);
      const content = `${JSON.stringify(card, undefined, 2)}\n`;
      const isFirst = !written.has(id);
      written.set(id, { agent, content });
      if (isFirst && Date.parse(agent.metadata.creationTimestamp) < openedMs - LONG_MS) {
        late.set(id, place);
        lookLater(firstLookMs);
        return;
      }
      late.delete(id);
      await put(place, content);
    },
    async remove(agent) {
      const place = placeOf(agent);
      written.delete(idOf(place));
      late.delete(idOf(place));
      await vault.removeGenerated(place.namespace, place.team, place.path);
    },
    close() {
      unsubscribe();
      late.clear();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function placeOf({ metadata: { namespace, name }, spec: { team } }: Agent): GeneratedPath {
  return { namespace, team, path: `cards/${shortName(team, name)}.json` };
}

function idOf({ namespace, team, path }: GeneratedPath): string {
  return `${namespace}/${team}/${path}`;
}

/** A card shows an Agent, and an Agent is made from its Team. */
function restoredMessage({ namespace, team, path }: GeneratedPath): string {
  const options = namespace === 'default' ? '' : ` -n ${namespace}`;
  return `${path} of team ${team} is generated: what was changed in it is put back. To change it: agentiso edit team ${team}${options}`;
}
