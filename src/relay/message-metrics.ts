/** What is counted of messages. */
import type { ErrorCode } from '#lib/errors.ts';
import type { Metrics } from '#lib/metrics.ts';
import type { Mail } from '#mail/mail.ts';

export interface MessageMetrics {
  /** For the post. */
  readonly onRejected: (code: ErrorCode) => void;
  close(): void;
}

export function createMessageMetrics(metrics: Pick<Metrics, 'counter'>, mail: Pick<Mail, 'onChange'>): MessageMetrics {
  const messages = metrics.counter(
    'agentiso_messages_total',
    'Copies of messages that reached a state: Accepted, Delivered, Seen, DeadLetter.',
  );
  const rejected = metrics.counter('agentiso_messages_rejected_total', 'Messages that were refused, by the code of the refusal.');
  const dead = metrics.counter('agentiso_messages_deadletter_total', 'Copies of messages that were given up.');
  const close = mail.onChange(({ state, messages: copies }) => {
    if (state === 'Withdrawn') return;
    messages.inc({ state }, copies.length);
    if (state === 'DeadLetter') dead.inc({}, copies.length);
  });
  return { onRejected: (code) => rejected.inc({ reason: code }), close };
}
