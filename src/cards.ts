/** The cards of agents as files, for everybody who reads the vault. Derived: written by the daemon, never read back. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Agent, shortName } from '#api/types.ts';

export interface Cards {
  write(agent: Agent, card: object): Promise<void>;
  remove(agent: Agent): Promise<void>;
}

export function createCards(home: string): Cards {
  const pathOf = ({ metadata: { namespace, name }, spec: { team } }: Agent) => {
    const teams = namespace === 'default' ? join(home, 'vault', 'teams') : join(home, 'vault', 'namespaces', namespace, 'teams');
    return join(teams, team, 'cards', `${shortName(team, name)}.json`);
  };
  return {
    async write(agent, card) {
      const path = pathOf(agent);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, `${JSON.stringify(card, undefined, 2)}\n`, { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    async remove(agent) {
      await rm(pathOf(agent), { force: true });
    },
  };
}
