/** `auth whoami`: who the server takes the caller for. */

import { toYaml } from '#lib/to-yaml.ts';
import type { Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { toJson } from '../print/json.ts';
import { review } from './review.ts';

interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export async function whoami(options: OptionValues, session: Session): Promise<number> {
  const answer = await review<{ status?: { userInfo?: UserInfo } }>(session, { group: 'authentication', kind: 'SelfSubjectReview' });
  if (options['output'] === 'json') session.out(toJson(answer));
  else if (options['output'] === 'yaml') session.out(toYaml(answer));
  else session.out(alignLines(userLines(answer.status?.userInfo ?? {}), TABLE_STYLE));
  return EXIT.ok;
}

function userLines({ username, uid, groups = [], extra = {} }: UserInfo): string[][] {
  return [
    ['ATTRIBUTE', 'VALUE'],
    ['Username', username ?? ''],
    ...(uid ? [['UID', uid]] : []),
    ...(groups.length > 0 ? [['Groups', `[${groups.join(' ')}]`]] : []),
    ...Object.keys(extra)
      .sort()
      .map((key) => [`Extra: ${key}`, `[${extra[key]?.join(' ')}]`]),
  ];
}
