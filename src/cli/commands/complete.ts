/** `agentiso __complete WORDS…`: what could stand where the last word is being typed, one per line, with a tab before what it means. */
import { type Command, EXIT } from '../command.ts';
import { type CommandTable, candidates } from '../complete/candidates.ts';

export function completeCommand(table: CommandTable): Command {
  return {
    name: '__complete',
    summary: 'words for the completion scripts',
    isHidden: true,
    isRaw: true,
    async run(words, _options, context) {
      const found = await candidates(table, words, context);
      context.out(found.map(({ word, meaning }) => `${word}${meaning ? `\t${meaning}` : ''}\n`).join(''));
      return EXIT.ok;
    },
  };
}
