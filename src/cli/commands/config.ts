/** `agentiso config`: what the kubeconfig says. Commands use it only with --context or --kubeconfig; kubectl uses it always. */
import { findNamed, type Kubeconfig, readKubeconfig } from '#client/kubeconfig.ts';
import { kubeconfigView } from '#client/kubeconfig-view.ts';
import { NotFoundError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { toYaml } from '#lib/to-yaml.ts';
import { environmentOf, errorText, text } from '../api-command.ts';
import { type Command, type CommandContext, EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { toJson } from '../print/json.ts';
import { UsageError } from '../usage-error.ts';

interface Call {
  readonly config: Kubeconfig;
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly context: CommandContext;
}

const ACTIONS: Readonly<Record<string, (call: Call) => Promise<void> | void>> = {
  view,
  'get-contexts': getContexts,
  'current-context': ({ config, context }) => context.out(`${currentContext(config)}\n`),
  'use-context': useContext,
  'get-clusters': ({ config, context }) =>
    context.out(['NAME', ...config.clusters.map(({ name }) => name)].map((name) => `${name}\n`).join('')),
  'get-users': ({ config, context }) => context.out(['NAME', ...config.users.map(({ name }) => name)].map((name) => `${name}\n`).join('')),
};

export const configCommand: Command = {
  name: 'config',
  args: '<action> [name]',
  summary: 'look at the kubeconfig: view, get-contexts, current-context, use-context NAME',
  description:
    'Shows and changes the kubeconfig ($KUBECONFIG or ~/.kube/config). Commands talk to the daemon of this folder; --context or --kubeconfig makes them talk to a cluster of the kubeconfig.',
  options: [
    { flags: '--kubeconfig <file>', description: 'this file instead' },
    { flags: '--context <name>', description: 'view --minify: of this context' },
    { flags: '--minify', description: 'view: only what the context needs' },
    { flags: '--raw', description: 'view: with certificates and secrets' },
    { flags: '-o, --output <format>', description: 'view: yaml or json; get-contexts: name', choices: ['yaml', 'json', 'name'] },
    { flags: '--no-headers', description: 'without the line of headers' },
  ],
  async run([action = '', ...args], options, context) {
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!act) throw unknownAction(action);
    try {
      const { kubeconfig: fromEnvironment, userHome } = environmentOf(context);
      const config = await readKubeconfig({ given: text(options['kubeconfig']), fromEnvironment, userHome });
      await act({ config, args, options, context });
      return EXIT.ok;
    } catch (error) {
      const said = errorText(error);
      if (said === undefined) throw error;
      context.err(said);
      return EXIT.failure;
    }
  },
};

function unknownAction(action: string): UsageError {
  const meant = nearest(action, Object.keys(ACTIONS));
  const expected = meant ? `did you mean ${meant}?` : `expected one of ${Object.keys(ACTIONS).join(', ')}`;
  return new UsageError(`unknown command "${action}" for "agentiso config"; ${expected}`);
}

function currentContext({ currentContext: current }: Kubeconfig): string {
  if (current === '') throw new NotFoundError('current-context is not set');
  return current;
}

function getContexts({ config, args: [wanted], options, context: { out } }: Call): void {
  const shown =
    wanted === undefined
      ? [...config.contexts].sort((a, b) => (a.name < b.name ? -1 : 1))
      : [findNamed(config.contexts, wanted, 'context')];
  if (options['output'] === 'name') {
    out(shown.map(({ name }) => `${name}\n`).join(''));
    return;
  }
  const rows = shown.map(({ name, value }) => [
    name === config.currentContext ? '*' : '',
    name,
    value.cluster,
    value.user ?? '',
    value.namespace ?? '',
  ]);
  const headers = ['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'];
  out(alignLines(options['headers'] === false ? rows : [headers, ...rows], TABLE_STYLE));
}

async function useContext({ config, args: [name], context: { out } }: Call): Promise<void> {
  if (name === undefined) throw new UsageError("missing required argument 'name': use-context NAME");
  findNamed(config.contexts, name, 'context');
  const { setCurrentContext } = await import('#client/kubeconfig-edit.ts');
  await setCurrentContext(config, name);
  out(`Switched to context "${name}".\n`);
}

function view({ config, options, context: { out } }: Call): void {
  const shown = kubeconfigView(config, {
    isRaw: options['raw'] === true,
    only: options['minify'] === true ? (text(options['context']) ?? currentContext(config)) : undefined,
  });
  if (options['output'] === 'json') out(toJson(shown));
  else out(toYaml(shown));
}
