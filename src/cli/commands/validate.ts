/** `agentiso validate`: says what a server would say, without one. */
import { type Command, EXIT, type OptionValues } from '../command.ts';
import { type Manifests, readManifests } from '../manifests.ts';
import { UsageError } from '../usage-error.ts';
import { FILENAME_OPTIONS } from '../write/flags.ts';

export const validateCommand: Command = {
  name: 'validate',
  args: '[files...]',
  summary: 'check manifest files offline',
  description:
    'Checks files, folders or - (standard input) against the schemas, and together, and prints file:line:column for everything that would be refused. What a task of a team in them waits for must be in them too.',
  options: [...FILENAME_OPTIONS, { flags: '-o, --output <format>', description: 'json: one document for programs', choices: ['json'] }],
  async run(args, options, { out, err, signal }) {
    const isRecursive = options['recursive'] === true;
    const manifests = await readManifests({ filenames: filenamesOf(args, options), isRecursive, isWhole: true, signal });
    const { objects, problems } = manifests;
    if (options['output'] === 'json') out(`${JSON.stringify(toReport(manifests), undefined, 2)}\n`);
    else if (problems.length > 0) err(problems.map((problem) => `${problem}\n`).join(''));
    else for (const { kind, metadata } of objects) out(`${kind.toLowerCase()}/${metadata.name} valid\n`);
    return problems.length > 0 ? EXIT.failure : EXIT.ok;
  },
};

function filenamesOf(args: readonly string[], options: OptionValues): readonly string[] {
  const filenames = [...args, ...((options['filename'] as readonly string[] | undefined) ?? [])];
  if (filenames.length === 0)
    throw new UsageError("missing required argument 'files': name files or folders, or - for standard input", {
      hint: 'for example: agentiso validate -f team.yaml',
    });
  return filenames;
}

function toReport({ objects, problems }: Manifests) {
  return {
    valid: problems.length === 0,
    objects: objects.map(({ apiVersion, kind, metadata: { namespace, name } }) => ({
      apiVersion,
      kind,
      ...(namespace === '' ? {} : { namespace }),
      name,
    })),
    problems: problems.map(toProblem),
  };
}

function toProblem(problem: string) {
  const [, file, line, column, message] = /^(.*?):(\d+):(\d+): ([\s\S]*)$/.exec(problem) ?? [];
  return file === undefined ? { message: problem } : { file, line: Number(line), column: Number(column), message };
}
