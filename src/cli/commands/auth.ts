/** `agentiso auth`: what the server lets the caller do, and who it takes the caller for. */
import { isCode } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { review } from '../read/review.ts';
import { whoami } from '../read/whoami.ts';
import { UsageError } from '../usage-error.ts';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const SUBCOMMANDS = ['can-i', 'whoami'];

export const authCommand = apiCommand({
  name: 'auth',
  args: '<question> [arguments...]',
  summary: 'ask what is allowed: can-i VERB TYPE[/NAME], can-i --list, whoami',
  options: [
    { flags: '-A, --all-namespaces', description: 'can-i: in all namespaces' },
    { flags: '--subresource <name>', description: 'can-i: on this subresource, such as status' },
    { flags: '-q, --quiet', description: 'can-i: only the exit code' },
    { flags: '--list', description: 'can-i: everything that is allowed' },
    { flags: '--no-headers', description: 'without the line of headers' },
    { flags: '-o, --output <format>', description: 'whoami: json or yaml', choices: ['json', 'yaml'] },
  ],
  async run([question = '', ...args], options, session) {
    if (question === 'whoami') return whoami(options, session);
    if (question !== 'can-i') throw unknownQuestion(question);
    if (options['list'] === true) return listAllowed(options, session);
    return canI(args, options, session);
  },
});

function unknownQuestion(question: string): UsageError {
  const meant = nearest(question, SUBCOMMANDS);
  return new UsageError(
    `unknown command "${question}" for "agentiso auth"; ${meant ? `did you mean ${meant}?` : `expected ${SUBCOMMANDS.join(' or ')}`}`,
  );
}

async function canI(args: readonly string[], options: OptionValues, session: Session): Promise<number> {
  const [verb, object, ...rest] = args;
  if (verb === undefined || object === undefined || rest.length > 0) {
    throw new UsageError('you must specify two arguments: verb resource or verb resource/resourceName.');
  }
  const spec = object.startsWith('/')
    ? { nonResourceAttributes: { verb, path: object } }
    : await resourceQuestion(verb, object, options, session);
  const { status } = await review<{ status?: { allowed?: boolean; reason?: string } }>(session, {
    group: 'authorization',
    kind: 'SelfSubjectAccessReview',
    spec,
  });
  const isAllowed = status?.allowed === true;
  const reason = !isAllowed && status?.reason ? ` - ${status.reason}` : '';
  if (options['quiet'] !== true) session.out(`${isAllowed ? 'yes' : 'no'}${reason}\n`);
  return isAllowed ? EXIT.ok : EXIT.failure;
}

async function resourceQuestion(verb: string, object: string, options: OptionValues, session: Session) {
  if (!VERBS.includes(verb) && verb !== '*') {
    const meant = nearest(verb, VERBS);
    session.err(`Warning: verb '${verb}' is not a known verb${meant ? `; did you mean ${meant}?` : ''}\n`);
  }
  const [type = '', name] = object.split('/');
  const found = type === '*' ? { group: '*', version: '*', plural: '*', isNamespaced: true } : await findOrWarn(type, session);
  const subresource = text(options['subresource']);
  const isEverywhere = options['allNamespaces'] === true || !found.isNamespaced;
  return {
    resourceAttributes: {
      ...(isEverywhere ? {} : { namespace: session.namespace }),
      verb,
      group: found.group,
      ...(found.version === '' ? {} : { version: found.version }),
      resource: found.plural,
      ...(subresource ? { subresource } : {}),
      ...(name ? { name } : {}),
    },
  };
}

/** The question makes sense for what is not served, too: rights are words. */
async function findOrWarn(type: string, { discovery, err }: Session) {
  try {
    return (await discovery()).find(type);
  } catch (error) {
    if (!isCode(error, 'NotFound')) throw error;
    err(`Warning: ${(error as Error).message}\n\n`);
    const [plural = '', ...group] = type.split('.');
    return { group: group.join('.'), version: '', plural, isNamespaced: true };
  }
}

interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

async function listAllowed(options: OptionValues, session: Session): Promise<number> {
  const spec = { namespace: session.namespace };
  const { status } = await review<{ status?: { resourceRules?: readonly Rule[]; nonResourceRules?: readonly Rule[] } }>(session, {
    group: 'authorization',
    kind: 'SelfSubjectRulesReview',
    spec,
  });
  const list = (words: readonly string[] = []) => `[${words.join(' ')}]`;
  const rows = [...(status?.resourceRules ?? []), ...(status?.nonResourceRules ?? [])].flatMap((rule) => {
    const types = (rule.resources ?? []).flatMap((each) => (rule.apiGroups ?? ['']).map((group) => qualified(each, group)));
    const line = (type: string) => [type, list(rule.nonResourceURLs), list(rule.resourceNames), list(rule.verbs)];
    return types.length > 0 ? types.map(line) : [line('')];
  });
  const headers = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'];
  session.out(alignLines(options['headers'] === false ? rows : [headers, ...rows], TABLE_STYLE));
  return EXIT.ok;
}

/** `pods/exec` of a group is `pods.group/exec`. */
function qualified(resource: string, group: string): string {
  const [plural = '', ...subresource] = resource.split('/');
  return [group === '' ? plural : `${plural}.${group}`, ...subresource].join('/');
}
