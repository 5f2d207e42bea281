/** `agentiso scale`: how many agents a role of a team has. */
import { GROUP } from '#api/meta.ts';
import { FIELD_MANAGERS } from '#client/write/field-managers.ts';
import { patchObject } from '#client/write/requests.ts';
import { getTarget } from '#client/write/target.ts';
import { apiCommand, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { complaint } from '../write/complaint.ts';
import { DRY_RUN_OPTION, dryRunOf, fieldManagerOption, OUTPUT_OPTIONS } from '../write/flags.ts';
import { resultsTo } from '../write/results.ts';
import { roleToScale, scalePatch } from '../write/role-to-scale.ts';
import { findTargets } from '../write/targets.ts';

export const scaleCommand = apiCommand({
  name: 'scale',
  args: '[type-and-names...]',
  summary: 'change how many agents a role of a team has',
  description: 'agentiso scale team shop --replicas=4; with several roles also --role=dev. Agents that are too many go when they are idle.',
  options: [
    { flags: '--replicas <count>', description: 'how many agents the role is to have' },
    { flags: '--role <name>', description: 'which role; needed where a team has several besides its lead' },
    DRY_RUN_OPTION,
    fieldManagerOption(FIELD_MANAGERS.patch),
    ...OUTPUT_OPTIONS,
  ],
  async run(args, options, session) {
    const count = replicasOf(options);
    if (dryRunOf(options) === 'client') throw new UsageError('--dry-run=client cannot tell what the server allows; use --dry-run=server');
    const { targets } = await findTargets(session, args, options);
    const results = resultsTo({ out: session.out, options, dryRun: dryRunOf(options) });
    let code: number = EXIT.ok;
    for (const target of targets) {
      try {
        if (target.resource.group !== GROUP || target.resource.kind !== 'Team')
          throw new UsageError('only teams can be scaled: agentiso scale team NAME');
        const role = roleToScale(await getTarget(session.connection, target), text(options['role']));
        const patch = { type: 'json' as const, body: scalePatch(role, count), fieldManager: String(options['fieldManager']) };
        const object = await patchObject(session, target, { ...patch, isDryRun: dryRunOf(options) === 'server' });
        results.add({ resource: target.resource, name: target.name, object, outcome: 'scaled' });
      } catch (error) {
        code = EXIT.failure;
        session.err(complaint(error));
      }
    }
    await results.finish();
    return code;
  },
});

function replicasOf(options: OptionValues): number {
  const given = text(options['replicas']);
  if (given !== undefined && /^[1-9]\d{0,3}$/.test(given)) return Number(given);
  throw new UsageError('--replicas is required: a number from 1 on', {
    hint: 'a team without agents rests: agentiso patch team NAME -p \'{"spec":{"suspend":true}}\'',
  });
}
