/** What is counted of messages. */
import type { ErrorCode } from '#lib/errors.ts';
import type { Metrics } from '#lib/metrics.ts';
import type { CopyState, Mail } from '#mail/mail.ts';

export interface MessageMetrics {
  /** For the post. */
  readonly onRejected: (code: ErrorCode) => void;
  close(): void;
}

/** One of each for ever: the text of such an object is made once. */
const LABELS = {
  Accepted: { state: 'Accepted' },
  Delivered: { state: 'Delivered' },
  Seen: { state: 'Seen' },
  DeadLetter: { state: 'DeadLetter' },
} as const satisfies Readonly<Record<CopyState, { readonly state: CopyState }>>;
const NONE = {};

export function createMessageMetrics(metrics: Pick<Metrics, 'counter'>, mail: Pick<Mail, 'onChange'>): MessageMetrics {
  const messages = metrics.counter(
    'agentiso_messages_total',
    'Copies of messages that reached a state: Accepted, Delivered, Seen, DeadLetter.',
  );
  const rejected = metrics.counter('agentiso_messages_rejected_total', 'Messages that were refused, by the code of the refusal.');
  const dead = metrics.counter('agentiso_messages_deadletter_total', 'Copies of messages that were given up.');
  const close = mail.onChange(({ state, messages: copies }) => {
    if (state === 'Withdrawn') return;
    messages.inc(LABELS[state], copies.length);
    if (state === 'DeadLetter') dead.inc(NONE, copies.length);
  });
  return { onRejected: (code) => rejected.inc({ reason: code }), close };
}
