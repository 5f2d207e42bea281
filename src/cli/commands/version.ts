/** `agentiso version`: of this program, and of the server it would talk to. */
import { getJson } from '#client/resource-api.ts';
import { isCode } from '#lib/errors.ts';
import { toYaml } from '#lib/to-yaml.ts';
import { TARGET_OPTIONS, withSession } from '../api-command.ts';
import { type Command, type CommandContext, EXIT, type OptionValues } from '../command.ts';
import { toJson } from '../print/json.ts';

export const versionCommand: Command = {
  name: 'version',
  summary: 'print the version of this program and of the server',
  options: [
    { flags: '--client', description: 'of this program only' },
    { flags: '-o, --output <format>', description: 'json or yaml', choices: ['json', 'yaml'] },
    ...TARGET_OPTIONS,
  ],
  async run(_args, options, context) {
    const client = { gitVersion: `v${context.version}`, platform: `${process.platform}/${process.arch}`, nodeVersion: process.version };
    if (options['client'] === true) return show({ clientVersion: client }, options, context);
    const server = await serverVersion(options, context);
    return show({ clientVersion: client, ...(server ? { serverVersion: server } : {}) }, options, context);
  },
};

interface VersionInfo {
  readonly gitVersion: string;
}

/** Undefined when no daemon runs here: that is no failure unless a server was named. */
async function serverVersion(options: OptionValues, context: CommandContext): Promise<VersionInfo | undefined> {
  let version: VersionInfo | undefined;
  const isNamed = ['home', 'context', 'kubeconfig'].some((key) => options[key] !== undefined);
  try {
    await withSession(options, context, async ({ connection, signal }) => {
      version = await getJson<VersionInfo>(connection, '/version', { signal });
      return EXIT.ok;
    });
  } catch (error) {
    if (isNamed || !isCode(error, 'Unavailable')) throw error;
  }
  return version;
}

interface Versions {
  readonly clientVersion: VersionInfo;
  readonly serverVersion?: VersionInfo;
}

function show(versions: Versions, options: OptionValues, { out }: CommandContext): number {
  if (options['output'] === 'json') out(toJson(versions));
  else if (options['output'] === 'yaml') out(toYaml(versions));
  else {
    out(`Client Version: ${versions.clientVersion.gitVersion}\n`);
    if (versions.serverVersion) out(`Server Version: ${versions.serverVersion.gitVersion}\n`);
  }
  return EXIT.ok;
}
