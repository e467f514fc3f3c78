import { expect, it } from "vitest";
import { pseudoRandom } from "./pseudo-random.ts";

it("returns the same numbers for the same seeds", () => {
  const random = pseudoRandom(7, 1);
  const drawn = [
    random.fraction(),
    random.between(1, 6),
    random.below(10),
    random.chance(0.5),
    random.oneOf(["a", "b", "c"]),
    random.some([1, 2, 3, 4], 3),
  ];
  expect(drawn).toEqual([0.001134461723268032, 2, 9, true, "c", [3, 2, 1]]);
});

it("chooses from all items, also undefined, and each at most once", () => {
  const random = pseudoRandom(1);
  const chosen = Array.from({ length: 100 }, () => random.oneOf([undefined, 1]));
  expect(new Set(chosen)).toEqual(new Set([undefined, 1]));
  expect(random.some([1, 2, 3], 5).sort()).toEqual([1, 2, 3]);
  expect(() => random.oneOf([])).toThrow("nothing to choose from");
});
