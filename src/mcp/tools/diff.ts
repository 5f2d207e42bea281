/** diff: what apply would change. */
import type { ApiObject } from '#client/resource-api.ts';
import type { Target } from '#client/write/target.ts';
import { unifiedDiff } from '#client/write/unified-diff.ts';
import type { JsonObject } from '#lib/json.ts';
import { toYaml } from '#lib/to-yaml.ts';
import { described, flag, list, object, oneOf, text } from '#protocol/shape.ts';
import { changedFields } from '../objects/changed-fields.ts';
import { manifestField, namespaceField } from '../objects/fields.ts';
import { type Planned, planManifest } from '../objects/manifest-set.ts';
import { plainObject } from '../objects/plain-object.ts';
import { cutText, fitting } from '../objects/shorten.ts';
import { defineTool } from '../tool.ts';

const MAX_TEXT_BYTES = 16 * 1024;
const MAX_FIELDS = 200;

const input = object(
  { manifest: manifestField },
  {
    namespace: described(namespaceField, 'For documents that name none; default when absent.'),
    force: described(flag, 'As if fields that others have set were taken over.'),
  },
);

const output = object({
  is_different: flag,
  objects: list(
    object(
      {
        kind: text,
        name: text,
        change: oneOf('create', 'change', 'none'),
        fields: list(object({ path: text }, { from: text, to: text })),
        text,
      },
      { namespace: text },
    ),
  ),
  is_cut: described(flag, 'Not everything is shown: compare fewer documents at once.'),
});

export const diff = defineTool({
  name: 'diff',
  title: 'Show what apply would change',
  description:
    'Compares a manifest with what is there, and lets the API try it without storing anything. Gives for each object whether it would be created, changed or left, the fields with old and new values as JSON, and the same as a unified diff. Call it before apply when you are not sure; a manifest that apply would refuse is refused here with the same words.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  // The API lets only those try who may write.
  needsAdmin: true,
  quotesOthers: true,
  async run(input, call) {
    const { planned } = await planManifest(call, input);
    const compared = planned.map(compare);
    const shown = fitting(compared.map(({ isCut: _, ...each }) => each));
    return {
      is_different: compared.some(({ change }) => change !== 'none'),
      objects: shown,
      is_cut: shown.length < compared.length || compared.some(({ isCut }) => isCut),
    };
  },
});

function compare({ item: { config, target }, live, object: merged }: Planned) {
  const before = live && shownOf(live);
  const after = merged ? shownOf(merged) : config;
  const fields = changedFields(before, after);
  const change = changeOf(before !== undefined, fields.length > 0);
  const whole = change === 'none' ? '' : textOf(before, after, target);
  const shown = cutText(whole, MAX_TEXT_BYTES);
  return {
    kind: String(config['kind']),
    name: target.name,
    ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
    change,
    fields: fields.slice(0, MAX_FIELDS),
    text: shown,
    isCut: fields.length > MAX_FIELDS || shown !== whole,
  };
}

/** What the API sets at every write is no change that anybody asked for. */
function shownOf(object: ApiObject): JsonObject {
  const { metadata, ...rest } = plainObject(object);
  const { generation: _g, resourceVersion: _v, uid: _u, creationTimestamp: _t, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function changeOf(isThere: boolean, isDifferent: boolean): 'create' | 'change' | 'none' {
  if (!isThere) return 'create';
  return isDifferent ? 'change' : 'none';
}

function textOf(before: object | undefined, after: object, { resource, namespace, name }: Target): string {
  const label = [resource.kind, ...(namespace === undefined ? [] : [namespace]), name].join('.');
  return unifiedDiff(before ? toYaml(before) : '', toYaml(after), { from: `LIVE/${label}`, to: `MERGED/${label}` });
}
