/** `agentiso image`: the images that virtual machines start from. */
import { AgentisoError } from '#lib/errors.ts';
import { bytesOf } from '#lib/quantity.ts';
import { nearest } from '#lib/suggest.ts';
import { type Command, type CommandContext, EXIT, type OptionValues } from '../command.ts';
import type { ImagesHere } from '../image/images-here.ts';
import { imageTable, imageText, mebibytes } from '../image/print.ts';
import { createProgress } from '../image/progress.ts';
import { UsageError } from '../usage-error.ts';

const ACTIONS = ['build', 'list', 'inspect', 'prune'];
const OTHER_WORDS: Readonly<Record<string, string>> = {
  ls: 'list',
  get: 'list',
  show: 'inspect',
  describe: 'inspect',
  make: 'build',
  rm: 'prune',
};

export const imageCommand: Command = {
  name: 'image',
  args: '<action> [name]',
  summary: 'images that virtual machines start from: build, list, inspect, prune',
  description:
    'An image is a kernel, an initramfs and a read-only root, made of Debian packages from the apt sources of this machine. build makes base, or the one that is named, of the newest packages; if there are none that are newer, it makes nothing. They are kept in $AGENTISO_IMAGES or ~/.cache/agentiso/images. Others than base are described in manifests/images and ~/.config/agentiso/images. prune removes what is not used any more, and with --budget downloads, templates of machines and the oldest images until the rest takes no more.',
  options: [
    { flags: '--force', description: 'build: also when the same image is there already' },
    { flags: '--verify', description: 'inspect: read the whole root and compare it with what was built' },
    { flags: '--budget <size>', description: 'prune: how much may stay, for example 2Gi' },
    { flags: '-o, --output <format>', description: 'list and inspect: json', choices: ['json'] },
  ],
  async run([action = '', name, ...more], options, context) {
    if (more.length > 0) throw new UsageError(`one image at a time: agentiso image ${action} ${name}`);
    const budgetBytes = budgetOf(action, options);
    if (name !== undefined && ['list', 'prune'].includes(action)) throw new UsageError(`${action} takes no name`);
    switch (action) {
      case 'build':
        return build(name ?? 'base', options, context);
      case 'list':
        return list(options, context);
      case 'inspect':
        if (name === undefined) throw new UsageError('which one? agentiso image inspect NAME; agentiso image list shows them');
        return inspect(name, options, context);
      case 'prune':
        return prune(budgetBytes, context);
      default:
        throw unknownAction(action);
    }
  },
};

async function build(name: string, options: OptionValues, context: CommandContext): Promise<number> {
  const { out, err, signal, environment } = context;
  const images = await open(context);
  const progress = createProgress({ write: err, isTerminal: environment?.isTerminal === true, columns: environment?.columns });
  try {
    const { hash } = await images.build(name, { signal, onProgress: (step) => progress.show(step), force: options['force'] === true });
    progress.end();
    out(`image ${name} is ready: ${hash}\n`);
    return EXIT.ok;
  } catch (error) {
    progress.end();
    if (!signal.aborted) throw error;
    err('interrupted; the next build goes on with what was downloaded\n');
    return EXIT.interrupted;
  }
}

async function list(options: OptionValues, context: CommandContext): Promise<number> {
  const images = await (await open(context)).list();
  context.out(options['output'] === 'json' ? json(images) : imageTable(images, new Date()));
  return EXIT.ok;
}

async function inspect(name: string, options: OptionValues, context: CommandContext): Promise<number> {
  const images = await open(context);
  const details = await images.inspect(name);
  const isIntact = options['verify'] === true && details.built ? await images.verify(name) : undefined;
  context.out(options['output'] === 'json' ? json({ ...details, isIntact }) : imageText(details, isIntact));
  return isIntact === false || (options['verify'] === true && !details.built) ? EXIT.failure : EXIT.ok;
}

async function prune(budgetBytes: number | undefined, context: CommandContext): Promise<number> {
  const { out, err, signal } = context;
  const images = await open(context);
  try {
    const onWait = () => err('another build is under way; waiting for it\n');
    const { removed, keptBytes } = await images.prune({ signal, onWait, ...(budgetBytes !== undefined && { budgetBytes }) });
    const bytes = removed.reduce((sum, each) => sum + each.bytes, 0);
    out(`removed ${mebibytes(bytes)}, kept ${mebibytes(keptBytes)} in ${images.directory}\n`);
    if (budgetBytes === undefined || keptBytes <= budgetBytes) return EXIT.ok;
    err('more than the budget is in use by machines that run\n');
    return EXIT.failure;
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    throw error;
  }
}

async function open({ openImages }: CommandContext): Promise<ImagesHere> {
  if (openImages) return openImages();
  throw new AgentisoError('Internal', 'this program has no images');
}

function budgetOf(action: string, options: OptionValues): number | undefined {
  const text = options['budget'];
  if (typeof text !== 'string') return undefined;
  if (action !== 'prune') throw new UsageError('--budget belongs to agentiso image prune');
  const bytes = bytesOf(text);
  if (Number.isFinite(bytes)) return bytes;
  throw new UsageError(`--budget ${text} is no size; expected one such as 500Mi or 2Gi`);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function unknownAction(action: string): UsageError {
  const meant = OTHER_WORDS[action] ?? nearest(action, ACTIONS);
  return new UsageError(`unknown action "${action}"; ${meant ? `did you mean ${meant}?` : `expected ${ACTIONS.join(', ')}`}`);
}
