/** `approve_merge`: lets a merged commit land that waits for somebody who wrote none of it. */
import type { Merge } from '#api/types.ts';
import { approveMerge as approve } from '#client/merges.ts';
import { described, object, text } from '#protocol/shape.ts';
import { label } from '../objects/fields.ts';
import { defineTool } from '../tool.ts';
import { namespace, namespaceOf } from '../work/fields.ts';
import { withHint } from '../work/with-hint.ts';

const input = object(
  { merge: described(label, 'Name of the Merge, as workspace_merge gave it.') },
  {
    namespace,
    commit: described(text, 'The merged commit that you have looked at (candidate). Default: the one it has now.'),
  },
);
const output = object({ merge: text, commit: text, approved_by: text });

export const approveMerge = defineTool({
  name: 'approve_merge',
  title: 'Let a merge land',
  description:
    'Approves the merged commit of a Merge that was made with approval. It counts for this very commit: when a source or the target moves before it lands, the commit is another and is approved anew. The landing follows at once; get with kind Merge shows it.',
  category: 'default',
  isReadOnly: false,
  isIdempotent: true,
  input,
  output,
  resource: ({ merge }) => `merge/${merge}`,
  async run({ merge: name, commit, ...place }, call) {
    const key = { kind: 'Merge', namespace: namespaceOf(place), name };
    const found = await withHint(call.client.get<Merge>(key), { NotFound: 'list with kind Merge shows what there is' });
    // Named with the approval: if the merge is at another one when that arrives, it does not count.
    const seen = commit ?? found.status?.candidate;
    const approval = await withHint(approve(call, { namespace: key.namespace, name, commit: seen }), {
      Conflict: 'get with kind Merge shows how far it is',
    });
    return { merge: name, commit: approval.commit, approved_by: approval.by };
  },
});
