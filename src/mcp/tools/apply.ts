/** apply: makes the objects be what a manifest says. */

import { applyItem } from '#client/write/apply-set.ts';
import { withoutRecords } from '#client/write/apply-step.ts';
import { inOrderOfWriting } from '#client/write/writing-order.ts';
import { equalJson } from '#lib/json.ts';
import { described, flag, list, object, text } from '#protocol/shape.ts';
import { appliedObject } from '../objects/answers.ts';
import { manifestField, namespaceField } from '../objects/fields.ts';
import { conflictHint, type ManifestSet, type Planned, planManifest } from '../objects/manifest-set.ts';
import { newWorkspaces } from '../objects/new-workspaces.ts';
import { toRefusal } from '../objects/refusal.ts';
import { defineTool, type ToolCall } from '../tool.ts';

type Action = 'created' | 'configured' | 'unchanged';

const input = object(
  { manifest: manifestField },
  {
    namespace: described(namespaceField, 'For documents that name none; default when absent.'),
    dry_run: described(flag, 'Only check and say what would happen.'),
    force: described(flag, 'Take over fields that others have set.'),
  },
);

const output = object({ objects: list(appliedObject), warnings: list(text), dry_run: flag });

export const apply = defineTool({
  name: 'apply',
  title: 'Apply a manifest',
  description:
    'Creates or changes teams, agents, tasks and merges so that they are what the manifest says. The whole manifest is checked first: with one mistake in it nothing is written, and the refusal names line and field. What the manifest does not mention stays as it is. Use dry_run or diff to see what would happen, explain for what fields mean, wait_for or watch afterwards. Returns at once: controllers make it so.',
  input,
  output,
  category: 'default',
  isReadOnly: false,
  isIdempotent: true,
  async run(input, call) {
    const { dry_run = false } = input;
    const set = await planManifest(call, input);
    if (dry_run) return { objects: set.planned.map(foreseen), warnings: [...set.warnings], dry_run };
    call.admitWorkspaces(newWorkspaces(set.planned));
    const objects = await writeAll(set, call);
    return { objects, warnings: [...set.warnings], dry_run };
  },
});

function toApplied({ item: { config, target } }: Planned, action: Action) {
  const { name, namespace } = target;
  return { kind: String(config['kind']), name, ...(namespace === undefined ? {} : { namespace }), action };
}

function foreseen(planned: Planned) {
  const { live, object: wanted } = planned;
  if (!live) return toApplied(planned, 'created');
  const isSame = wanted !== undefined && equalJson(withoutRecords(wanted), withoutRecords(live));
  return toApplied(planned, isSame ? 'unchanged' : 'configured');
}

type Written = ReturnType<typeof toApplied>;

async function writeAll({ place, planned, options }: ManifestSet, { progress }: ToolCall): Promise<readonly Written[]> {
  const byItem = new Map(planned.map((each) => [each.item, each]));
  const written: Written[] = [];
  for (const item of inOrderOfWriting(planned.map((each) => each.item))) {
    const { live } = byItem.get(item) ?? {};
    try {
      const { object: now } = await applyItem(place, item, options);
      const isSame = live?.metadata.uid === now.metadata.uid && live?.metadata.resourceVersion === now.metadata.resourceVersion;
      written.push(toApplied({ item }, live === undefined ? 'created' : isSame ? 'unchanged' : 'configured'));
    } catch (error) {
      throw interrupted(error, written, planned.length);
    }
    progress(`${item.config['kind']} ${item.target.name}`, { count: written.length, of: planned.length });
  }
  return written;
}

/** What nobody could foresee: others write, too, and the machine has room for only so many. */
function interrupted(error: unknown, written: readonly Written[], all: number): unknown {
  if (written.length === 0) return toRefusal(error, conflictHint(error));
  const done = written.map(({ kind, name, action }) => `${kind} ${name} ${action}`).join(', ');
  const hint = `${written.length} of ${all} were written before (${done}); correct the rest and apply the same manifest again`;
  return toRefusal(error, hint);
}
