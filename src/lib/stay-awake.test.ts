import { expect, it } from 'vitest';
import { stayAwake } from './stay-awake.ts';

/** An event loop by hand: what waits for its next turn, and a clock. */
function loop(processors = 2) {
  let nowMs = 1_000;
  let waiting: (() => void)[] = [];
  const awake = stayAwake({ nowMs: () => nowMs, nextTurn: (turn) => waiting.push(turn), processors });
  return {
    awake,
    /** How many turns it takes until the loop sleeps, when each takes 10 us. */
    turns() {
      let turns = 0;
      for (; waiting.length > 0; turns += 1) {
        nowMs += 0.01;
        const due = waiting;
        waiting = [];
        for (const turn of due) turn();
      }
      return turns;
    },
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

it('sleeps at once after a first question, and after one that came late', () => {
  const { awake, turns, pass } = loop();
  awake.heard();
  awake.answered();
  expect(turns()).toBe(0);
  pass(5);
  awake.heard();
  awake.answered();
  expect(turns()).toBe(0);
});

it('looks for the next question for a moment when the last one came at once', () => {
  const { awake, turns, pass } = loop();
  awake.heard();
  awake.answered();
  pass(0.15);
  awake.heard();
  awake.answered();
  const awaited = turns();
  expect(awaited).toBeGreaterThan(5);
  expect(awaited).toBeLessThan(20);
  pass(5);
  awake.heard();
  awake.answered();
  expect(turns()).toBe(0);
});

it('looks once for all who were answered', () => {
  const { awake, turns } = loop();
  for (let question = 0; question < 5; question += 1) {
    awake.heard();
    awake.answered();
  }
  expect(turns()).toBeLessThan(20);
});

it('leaves a lone processor to whoever is to ask', () => {
  const { awake, turns } = loop(1);
  for (let question = 0; question < 5; question += 1) {
    awake.heard();
    awake.answered();
  }
  expect(turns()).toBe(0);
});
