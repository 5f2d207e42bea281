/**
 * The card of an agent follows every pass, also of one that does not run: who reads it must not take a stopped agent for a ready one. Written
 * when it is another one than the last; what cannot be written is tried again in the next pass.
 */
import type { Agent } from '#api/types.ts';
import { equalJson } from '#lib/json.ts';
import type { ReconcileContext } from '#runtime/controller.ts';
import { type Card, cardOf, urlOf } from './card.ts';
import type { AgentDeps } from './deps.ts';

export class ShownCards {
  readonly #shown = new Map<string, Card>();

  async show(agent: Agent, { parentTeamOf, writeCard }: AgentDeps, { log }: ReconcileContext): Promise<void> {
    const { uid } = agent.metadata;
    try {
      const card = cardOf(agent, { url: urlOf(agent), parentTeam: await parentTeamOf(agent) });
      if (equalJson(this.#shown.get(uid), card)) return;
      await writeCard(agent, card);
      this.#shown.set(uid, card);
    } catch (error) {
      log.warn({ err: error }, 'the card of an agent could not be written');
    }
  }

  forget(uid: string): void {
    this.#shown.delete(uid);
  }
}
