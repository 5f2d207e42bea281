import { type Command, EXIT } from '../command.ts';

export const versionCommand: Command = {
  name: 'version',
  summary: 'print the version',
  async run(_args, _options, { out, version }) {
    out(`agentiso ${version}\n`);
    return EXIT.ok;
  },
};
