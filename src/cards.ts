/** The cards of agents as files, for everybody who reads the vault. Derived: written by the daemon, never read back, put back when changed. */
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
}

export interface VaultCards extends Cards {
  close(): void;
}

export function openCards({ vault, log, onRestored }: CardsOptions): VaultCards {
  const written = new Map<string, { readonly agent: Agent; readonly content: string }>();
  const restore = async (place: GeneratedPath) => {
    const known = written.get(idOf(place));
    if (!known) return;
    await vault.writeGenerated(place.namespace, place.team, place.path, known.content);
    onRestored(known.agent, restoredMessage(place));
  };
  const close = vault.onForeignChange((place) => {
    restore(place).catch((error: unknown) => log.warn({ err: error, ...place }, 'card could not be put back'));
  });
  return {
    async write(agent, card) {
      const place = placeOf(agent);
      const content = `${JSON.stringify(card, undefined, 2)}\n`;
      await vault.writeGenerated(place.namespace, place.team, place.path, content);
      written.set(idOf(place), { agent, content });
    },
    async remove(agent) {
      const place = placeOf(agent);
      written.delete(idOf(place));
      await vault.removeGenerated(place.namespace, place.team, place.path);
    },
    close,
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
