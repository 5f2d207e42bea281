/** Who writes, as the record of fields keeps it. */
import { trackUpdate } from '#api/fields/track.ts';
import type { Kind } from '#api/kind.ts';
import { toSeconds } from '#lib/clock.ts';
import type { WriteOptions } from '#store/store.ts';
import type { Call, Serving } from './call.ts';
import { ownedForm } from './forms.ts';
import { emptyForm } from './kind-types.ts';
import { apiVersionOf } from './resources.ts';
import { rememberText } from './text.ts';
import type { WriteAsked } from './write-options.ts';

export function writerOf({ route }: Call, { fieldManager }: WriteAsked, { clock }: Serving) {
  const { stored } = route.resource;
  return {
    manager: fieldManager,
    now: toSeconds(clock.now()),
    // The fields are recorded by the names under which they are stored.
    apiVersion: stored?.apiVersion ?? apiVersionOf(route.resource),
    ...(route.subresource === 'status' ? { subresource: 'status' as const } : {}),
    ...(stored && !stored.crd ? { empty: emptyForm(stored) } : {}),
  };
}

/** Options of the store for a write that is not an apply: the writer takes what it changes. */
export function trackedWrite(call: Call, asked: WriteAsked, serving: Serving): WriteOptions {
  const { schema } = call.route.resource.stored as Kind;
  const writer = writerOf(call, asked, serving);
  return {
    dryRun: asked.dryRun,
    onText: rememberText,
    track: (current, admitted) => trackUpdate(schema, current && ownedForm(current), ownedForm(admitted), writer),
    ...(call.route.subresource === 'status' ? { subresource: 'status' as const } : {}),
  };
}
