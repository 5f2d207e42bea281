/** A process that writes notes until it is killed, and says each one on stdout once it is acknowledged. Arguments: home. */
import { writeSync } from 'node:fs';
import { silentLogger } from '#lib/log.ts';
import { openVault } from './open-vault.ts';
import { OWN } from './vault.fixture.ts';

const [home = ''] = process.argv.slice(2);
const vault = await openVault({ home, log: silentLogger });
await vault.ensureTeam('default', 'a');

/** So long that a torn one would be seen, and every line tells which write it is of. */
const pageOf = (count: number) => `write ${count}\n`.repeat(2_000);

async function write(writer: number): Promise<never> {
  for (let count = 1; ; count++) {
    await vault.write(OWN, `teams/a/notes/page-${writer}.md`, pageOf(count));
    await vault.write(OWN, 'teams/a/notes/log.md', `${writer}:${count}\n`, { mode: 'append' });
    await vault.writeGenerated('default', 'a', `tasks/t${writer}.md`, pageOf(count));
    writeSync(1, `${writer}:${count}\n`);
  }
}

await Promise.all([1, 2, 3].map(write));
