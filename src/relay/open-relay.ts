/** The relay of one daemon, put together: one post, one view of what agents do, and the desk that guests ask. */
import type { Limits } from '#api/limits.ts';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { AuditLog } from '#lib/audit.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics.ts';
import type { Mail } from '#mail/mail.ts';
import type { Vault } from '#vault/vault.ts';
import { Activity } from './activity.ts';
import { createDirectory } from './create-directory.ts';
import { createNotices } from './create-notices.ts';
import { createPost } from './create-post.ts';
import { followDeadLetters } from './dead-letters.ts';
import { createRelayDesk, type Desk } from './desk.ts';
import type { Directory } from './directory.ts';
import { limitedDesk } from './limited-desk.ts';
import { createMailSweep, type MailSweep } from './mail-sweep.ts';
import { createMessageMetrics } from './message-metrics.ts';
import type { Notices } from './notices.ts';
import type { ObjectOf } from './plain-letter.ts';
import type { Post } from './post.ts';
import type { RateLimits } from './rates.ts';
import type { TaskBook } from './task-book.ts';

export interface RelayOptions {
  readonly client: Client;
  readonly mail: Mail;
  /** An object as it is in this moment, where that can be said without a wait. */
  readonly objectOf?: ObjectOf;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
  readonly clock?: Clock;
  readonly agentByUid: (uid: string) => Agent | undefined;
  readonly teamByUid: (uid: string) => Team | undefined;
  /** The run of an agent that the daemon is connected to. */
  readonly incarnationOf: (uid: string) => string | undefined;
  /** Whether a program of that agent waits for a message. */
  readonly isWaiting?: (uid: string) => boolean;
  /** An Event on an object. */
  readonly warn: (object: KindObject, reason: string, message: string) => void;
  readonly limits?: Pick<Limits, 'maxNestingDepth'>;
  /** What a front door asks of a new Team besides its own rules; throws what is refused. */
  readonly checkTeam?: (team: Team) => void;
  /** How fast agents may ask; as fast as they can when absent. */
  readonly rates?: RateLimits;
  /** Where it stands what agents asked for. */
  readonly audit?: AuditLog;
}

export interface Relay {
  readonly post: Post;
  readonly notices: Notices;
  readonly directory: Directory;
  /** For the agent controller. */
  readonly activity: Activity;
  readonly sweep: MailSweep;
  deskFor(others: { readonly book: TaskBook; readonly vault: Vault }): Desk;
  /** An agent is gone. */
  forget(uid: string): void;
  /** Before the mail is closed. */
  close(): void;
}

export function openRelay(options: RelayOptions): Relay {
  const { client, mail, log, agentByUid, teamByUid, warn, clock, checkTeam, isWaiting, limits } = options;
  const time = clock && { clock };
  const activity = new Activity({ mail, agentByUid, log, ...time });
  const counted = createMessageMetrics(options.metrics, mail);
  const onProgress = activity.onProgress.bind(activity);
  const onActivity = activity.onActivity.bind(activity);
  const post = createPost({ ...options, onProgress, onRejected: counted.onRejected });
  const notices = createNotices(options);
  const directory = createDirectory({
    client,
    ...time,
    ...(isWaiting && { isWaiting }),
    ...(limits && { limits }),
    ...(checkTeam && { check: checkTeam }),
  });
  const stopDeadLetters = followDeadLetters({ mail, notices, log, warn, ownerByUid: (uid) => agentByUid(uid) ?? teamByUid(uid) });
  return {
    post,
    notices,
    directory,
    activity,
    sweep: createMailSweep({ mail, client }),
    deskFor: ({ book, vault }) => limitedDesk(createRelayDesk({ ...options, post, book, vault, directory, onActivity }), options),
    forget: (uid) => options.rates?.forget(uid),
    close() {
      stopDeadLetters();
      counted.close();
      activity.close();
    },
  };
}
