import { expect, it } from "vitest";
import { countForgeries } from "./count-forgeries.ts";
import { allFaults } from "./weak.ts";

// A million: `node verification/forgeries/main.ts`.
it("none of 20,000 forged calls, answers, completions and hook events is accepted", async () => {
  const { made, ways, accepted } = await countForgeries({ count: 20_000, seed: 3 });
  expect(accepted).toEqual([]);
  expect(made.size).toBe(7);
  expect(ways).toBeGreaterThan(70);
}, 120_000);

it("none of 700 is accepted that come through HTTP", async () => {
  const { accepted } = await countForgeries({ count: 700, seed: 4, isOverHttp: true });
  expect(accepted).toEqual([]);
}, 120_000);

it.each(allFaults)("a verifier that %s is found", async (fault) => {
  const { accepted } = await countForgeries({ count: 20_000, seed: 3, fault });
  expect(accepted.length).toBeGreaterThan(0);
});
