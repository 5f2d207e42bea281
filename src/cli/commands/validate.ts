/** `agentiso validate`: says what a server would say, without one. */
import { type Command, EXIT } from '../command.ts';
import { readManifests } from '../manifests.ts';

export const validateCommand: Command = {
  name: 'validate',
  args: '<files...>',
  summary: 'check manifest files offline',
  description: 'Checks files or folders against the schemas and prints file:line:column for everything that would be refused.',
  async run(args, _options, { out, err }) {
    const { objects, problems } = readManifests(args);
    for (const problem of problems) err(`${problem}\n`);
    if (problems.length > 0) return EXIT.failure;
    for (const { kind, metadata } of objects) out(`${kind.toLowerCase()}/${metadata.name} valid\n`);
    return EXIT.ok;
  },
};
