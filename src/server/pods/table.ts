/** The table of Pods that kubectl prints. */
import { ageOf } from '#lib/age.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { type ColumnDefinition, NAME_HEADER, nameOf, type TableFormat } from '../shape/columns.ts';
import { textAt } from '../shape/events.ts';
import type { WithMetadata } from '../shape/partial.ts';

const header = (name: string, description: string, priority = 0): ColumnDefinition => ({
  name,
  type: 'string',
  format: '',
  description,
  priority,
});

const HEADERS = [
  NAME_HEADER,
  header('Ready', 'The aggregate readiness state of this pod for accepting traffic.'),
  header('Status', 'The aggregate status of the containers in this pod.'),
  header('Restarts', 'The number of times the containers in this pod have been restarted.'),
  header('Age', 'How long the agent has existed.'),
  header('IP', 'IP address allocated to the pod. Empty if not yet allocated.', 1),
  header('Node', 'The machine the agent runs on.', 1),
  header('Nominated Node', 'Not used.', 1),
  header('Readiness Gates', 'Not used.', 1),
];

export const podTable: TableFormat = {
  headers: HEADERS,
  cellsOf(pod, now) {
    const container = containerOf(pod);
    return [
      nameOf(pod),
      container?.['ready'] === true ? '1/1' : '0/1',
      statusWord(pod, container),
      String(container?.['restartCount'] ?? 0),
      ageOf(textAt(pod, ['metadata', 'creationTimestamp']), now),
      textAt(pod, ['status', 'podIP']) || '<none>',
      textAt(pod, ['spec', 'nodeName']) || '<none>',
      '<none>',
      '<none>',
    ];
  },
};

function containerOf({ status }: WithMetadata & { status?: unknown }): JsonObject | undefined {
  const statuses = isObject(status) ? status['containerStatuses'] : undefined;
  const [first] = Array.isArray(statuses) ? statuses : [];
  return isObject(first) ? first : undefined;
}

/** In kubectl's order: on its way out, what the whole says, what its container says, the phase. */
function statusWord(pod: WithMetadata, container: JsonObject | undefined): string {
  if (textAt(pod, ['metadata', 'deletionTimestamp'])) return 'Terminating';
  const reason = textAt(pod, ['status', 'reason']);
  if (reason) return reason;
  const state = isObject(container?.['state']) ? Object.values(container['state'])[0] : undefined;
  const word = isObject(state) ? state['reason'] : undefined;
  return typeof word === 'string' ? word : textAt(pod, ['status', 'phase']);
}
