/** What `agentiso rescue` asks the daemon, and how the answers look. */
import * as rescue from '#client/rescue.ts';
import type { Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { toJson } from '../print/json.ts';
import { UsageError } from '../usage-error.ts';

export async function listRescued(options: OptionValues, session: Session): Promise<number> {
  const { out, err } = session;
  const repositories = await rescue.listRescued(session);
  if (options['output'] === 'json') {
    out(toJson({ repositories }));
    return EXIT.ok;
  }
  const rows = repositories.flatMap(({ rescued }) => rescued).map(toRow);
  if (rows.length === 0) err('Nothing was rescued, or nothing had to be.\n');
  else out(alignLines([['ID', 'NAMESPACE', 'TEAM', 'AGENT', 'KEPT', 'COMMITS', 'FILES'], ...rows], TABLE_STYLE));
  const used = repositories.map(({ namespace, team, bytes }) => [`${namespace}/${team}`, inMiB(bytes)]);
  if (used.length > 0) out(`\n${alignLines([['REPOSITORY', 'DISK'], ...used], TABLE_STYLE)}`);
  return EXIT.ok;
}

function toRow({ id, namespace, team, agent, at, commits, files }: rescue.Rescued): string[] {
  return [id, namespace, team, agent, at, String(commits), String(files)];
}

function inMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

export async function showRescued(id: string, options: OptionValues, session: Session): Promise<number> {
  const { out } = session;
  const work = await rescue.getRescued(session, id);
  if (options['output'] === 'json') {
    out(toJson(work));
    return EXIT.ok;
  }
  const about = [
    ['Id:', work.id],
    ['Agent:', `${work.namespace}/${work.team}/${work.agent}`],
    ['Kept:', work.at],
    ['Ref:', work.ref],
    ['Restore:', `agentiso rescue restore ${work.id} --into DIR`],
  ];
  out(alignLines(about, TABLE_STYLE));
  const commits = work.commits.map((commit) => [commit.id.slice(0, 12), commit.at, shown(commit.author), shown(commit.subject)]);
  if (commits.length > 0) out(`\n${alignLines([['COMMIT', 'WHEN', 'AUTHOR', 'SUBJECT'], ...commits], TABLE_STYLE)}`);
  if (work.stat !== '') out(`\n${shown(work.stat)}`);
  return EXIT.ok;
}

export async function dropRescued(id: string, options: OptionValues, session: Session): Promise<number> {
  if (options['yes'] !== true) throw new UsageError(`this cannot be taken back; say agentiso rescue drop ${id} --yes`);
  const work = await rescue.dropRescued(session, id);
  session.out(`the work of ${work.agent} is dropped; it was commit ${work.commit}\n`);
  return EXIT.ok;
}

/** Agents choose what stands there: what would move the cursor is shown as a question mark. */
function shown(words: string): string {
  return words.replace(/\p{Cc}/gu, (character) => (character === '\t' || character === '\n' ? character : '?'));
}
