import { describe, expect, it } from 'vitest';
import { candidates, isStillWanted, refuseForwards } from './plan.ts';

describe('forwards', () => {
  it.each([
    [[{ guestPort: 0, hostPort: null }], 'guestPort 0: a whole number from 1 to 65535 is accepted'],
    [[{ guestPort: 80, hostPort: 1023 }], 'hostPort 1023: a whole number from 1024 to 65535 is accepted'],
    [[{ guestPort: 80, hostPort: 65_536 }], 'hostPort 65536: a whole number from 1024 to 65535 is accepted'],
    [[{ guestPort: 80.5, hostPort: null }], 'guestPort 80.5: a whole number from 1 to 65535 is accepted'],
    [[{ guestPort: 80, hostPort: 7070 }], "hostPort 7070 is one of agentiso's own ports; choose another"],
    [[{ guestPort: 80, hostPort: 9999 }], "hostPort 9999 is one of agentiso's own ports; choose another"],
    [Array(2).fill({ guestPort: 80, hostPort: null }), 'guestPort 80 is forwarded twice'],
    [[80, 81].map((guestPort) => ({ guestPort, hostPort: 4000 })), 'hostPort 4000 is forwarded twice'],
  ])('that cannot be are refused in one line: %#', (forwards, message) => {
    expect(() => refuseForwards(forwards, [9999])).toThrow(expect.objectContaining({ code: 'Invalid', message }));
  });

  it('that can be are not', () => {
    const ports = [1024, 65_535, null, null].map((hostPort, index) => ({ guestPort: index + 1, hostPort }));
    expect(() => refuseForwards(ports, [])).not.toThrow();
  });

  it('stay when they are wanted as they are, or anywhere', () => {
    const is = { guestPort: 80, hostPort: 4000 };
    const answers = [
      { guestPort: 80, hostPort: 4000 },
      { guestPort: 80, hostPort: null },
      { guestPort: 80, hostPort: 4001 },
      { guestPort: 81, hostPort: 4000 },
    ];
    expect(answers.map((wanted) => isStillWanted(is, [wanted]))).toEqual([true, true, false, false]);
  });

  it('try the port that was asked for and no other, or the one of last time and then the range', () => {
    const none = { previous: [], reserved: [30_001] };
    expect([...candidates({ guestPort: 80, hostPort: 4000 }, none)]).toEqual([4000]);
    const any = [...candidates({ guestPort: 80, hostPort: null }, none)];
    expect([any.length, any[0], any[1], any.at(-1)]).toEqual([2767, 30_000, 30_002, 32_767]);
    const previous = [{ guestPort: 80, hostPort: 31_000 }];
    const again = [...candidates({ guestPort: 80, hostPort: null }, { previous, reserved: [] })];
    expect([again.length, again[0], again[1]]).toEqual([2768, 31_000, 30_000]);
    expect(candidates({ guestPort: 80, hostPort: null }, { previous, reserved: [31_000] }).next().value).toBe(30_000);
  });
});
