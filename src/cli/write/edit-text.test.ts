import { describe, expect, it } from 'vitest';
import type { ApiObject } from '#client/resource-api.ts';
import { editText, parseEdited, reopened, stripComments } from './edit-text.ts';

const team = (name: string): ApiObject => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  metadata: { name, namespace: 'default', managedFields: [{ manager: 'm' }] },
  spec: { roles: [{ name: 'worker' }] },
});

describe('editText', () => {
  it('is kubectl’s comment and the object without managedFields', () => {
    expect(editText([team('x')])).toBe(`# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata:
  name: x
  namespace: default
spec:
  roles:
  - name: worker
`);
  });

  it('is a List for several, and comes back as them', async () => {
    const text = editText([team('x'), team('y')]);
    expect(text).toContain('kind: List\n');
    const { documents, problems } = await parseEdited(text);
    expect([documents.map(({ object }) => (object['metadata'] as { name: string }).name), problems]).toEqual([['x', 'y'], []]);
    expect(documents.map(({ at }) => at(['metadata', 'name']))).toEqual(['line 10, column 5', 'line 18, column 5']);
  });
});

describe('reopened', () => {
  it('puts the reasons above the text, in place of the reasons from before', () => {
    const { text: once } = reopened(editText([team('x')]), ['first\nsecond line']);
    const { text: twice } = reopened(once.replace('x', 'z'), ['another']);
    expect(once).toContain('#\n# first\n# second line\n#\napiVersion:');
    expect(twice).toContain('#\n# another\n#\napiVersion:');
    expect(twice).not.toContain('first');
  });

  it('says the lines as they are in the text with the reasons in it', async () => {
    let text = editText([team('x')]);
    for (const count of [1, 2, 1]) {
      const place = (await parseEdited(text)).documents[0]?.at(['spec']) ?? '';
      const again = reopened(text, Array(count).fill(`${place}: wrong`));
      text = again.text;
      const line = Number(/^line (\d+)/.exec(again.problems[0] ?? '')?.[1]);
      expect(text.split('\n')[line - 1]).toBe('spec:');
    }
  });
});

it('stripComments keeps what counts', () => {
  expect(stripComments('# a\nb: 1 # c\n  # d\n\n')).toBe('b: 1 # c');
  expect(stripComments('# a\n\n#\n')).toBe('');
});

it('says where the text is broken', async () => {
  expect((await parseEdited('a: [\n')).problems).toEqual([expect.stringMatching(/^line \d+, column \d+: /)]);
});
