import { expect, it } from "vitest";
import { originChanges } from "./origin-changes.ts";

const minute = 60_000;

it("five changes may follow one another at once, then one a minute, and a quiet time allows five again", () => {
  let now = 1_000;
  const changes = originChanges(() => now);
  const taken = (): number => {
    let count = 0;
    for (; changes.mayChange() && count < 100; count++) changes.count();
    return count;
  };
  expect(taken()).toBe(5);
  now += minute - 1;
  expect(taken()).toBe(0);
  now += 1;
  expect(taken()).toBe(1);
  now += 3 * minute;
  expect(taken()).toBe(3);
  now += 60 * minute;
  expect(taken()).toBe(5);
});
