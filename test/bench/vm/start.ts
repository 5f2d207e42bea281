/** How long until a machine's guest is greeted, booted or as a copy of a template, with the driver and by hand. */
import { join } from 'node:path';
import { type CpuGroup, enterCpuGroup } from '../agents/cpu-group.ts';
import { figuresOf } from '../agents/figures.ts';
import type { Comparison, Contestant, Operation, ValueOf } from '../harness/operation.ts';
import { atMost } from '../harness/verdict.ts';
import { type Reached, startByHand } from './by-hand.ts';
import { type Machines, machineSpec, openMachines } from './machines.ts';

const KINDS = [' ms', ' CPU ms'] as const;

export const start: Operation = {
  id: 'start',
  about:
    'from driver.create until the guest has its identity and has answered hello; one processor, 256 MiB, a network device with nobody on the other end, a fresh disk. By hand: the same QEMU command line (and for a copy the same files of the same template) started directly, without launcher, bubblewrap, control group or machine file, its disk made ahead, then the same two calls over the port. From the pool: the machine was a copy and waited, with its disk mounted, for the same two calls. A copy that is alive but nobody has answered one mark on its port: it has no fresh randomness, clock, name or disk. CPU time is that of everything that was started, this process included',
  rounds: { full: 5, quick: 1 },
  reference: 'copy by hand ms',
  comparisons: [
    ...both('boot to handshake', 'boot', { contestant: 'boot by hand', name: 'by hand', limit: 1.15 }),
    ...both('copy to handshake', 'copy', { contestant: 'copy by hand', name: 'by hand', limit: 1.3 }),
    ...both('copy to handshake', 'copy', { contestant: 'boot', name: 'boot', limit: 0.08 }),
    ...both('copy from the pool to handshake', 'from the pool', { contestant: 'copy', name: 'copy', limit: 0.3 }),
    {
      label: '- against a copy that is alive but nobody',
      unit: 'ms',
      ours: (of) => of('copy ms'),
      reference: { name: 'sign of life', value: (of) => of('sign of life') },
    },
  ],
  async open(context) {
    // First: where the machines' own groups can be made depends on it.
    const group = context.own(enterCpuGroup());
    const booting = await openMachines(context, 'boots', 'image');
    const copying = await openMachines(context, 'copies', 'template');
    const waiting = await openMachines(context, 'pool', 'pool');
    const folder = join(context.dir, 'by-hand');
    const template = await findTemplate(copying);
    return [
      ...withDriver('boot', booting, group),
      ...byHand('boot by hand', group, (onGreeted) => startByHand({ folder, machines: booting }, onGreeted)),
      ...withDriver('copy', copying, group),
      ...withDriver('from the pool', waiting, group),
      ...byHand('copy by hand', group, (onGreeted) => startByHand({ folder, machines: copying, template }, onGreeted), 'sign of life'),
    ];
  },
};

interface Against {
  readonly contestant: string;
  readonly name: string;
  readonly limit: number;
}

/** The goal is one of time; what the processors did is steadier where others use them, too. */
function both(label: string, ours: string, { contestant, name, limit }: Against): Comparison[] {
  return KINDS.map((kind) => ({
    label: kind === ' ms' ? label : '- its CPU time',
    unit: 'ms',
    ours: (of: ValueOf) => of(`${ours}${kind}`),
    reference: { name, value: (of: ValueOf) => of(`${contestant}${kind}`) },
    goal: atMost(limit),
  }));
}

function withDriver(name: string, machines: Machines, group: CpuGroup): Contestant[] {
  return figuresOf([`${name} ms`, `${name} CPU ms`], async () => {
    const spec = machineSpec();
    const [before, cpuBefore] = [performance.now(), group.cpuMs()];
    await machines.start(spec);
    const figures = { [`${name} ms`]: performance.now() - before, [`${name} CPU ms`]: group.cpuMs() - cpuBefore };
    await machines.poolSettled();
    await machines.remove([spec.id]);
    return figures;
  });
}

function byHand(
  name: string,
  group: CpuGroup,
  run: (onGreeted: () => void) => Promise<Reached>,
  signOfLife: string = `${name} alive`,
): Contestant[] {
  return figuresOf([`${name} ms`, `${name} CPU ms`, signOfLife], async () => {
    const cpuBefore = group.cpuMs();
    let cpuMs = Number.NaN;
    const { greetedMs, signOfLifeMs } = await run(() => {
      cpuMs = group.cpuMs() - cpuBefore;
    });
    return { [`${name} ms`]: greetedMs, [`${name} CPU ms`]: cpuMs, [signOfLife]: signOfLifeMs };
  });
}

async function findTemplate(machines: Machines): Promise<{ readonly memory: string; readonly state: string }> {
  const spec = machineSpec();
  await machines.start(spec);
  const template = await machines.templateOf(spec.id);
  await machines.remove([spec.id]);
  return template;
}
