import { expect, it } from "vitest";
import { attacksIn, runAttacks } from "./run-attacks.ts";

it("of the attacks that do not take long none succeeds, and each can be made", async () => {
  const all = await attacksIn(new URL(".", import.meta.url));
  const quick = all.filter(({ attack }) => attack.slow !== true);
  expect(quick.length).toBeGreaterThan(0);
  const results = await runAttacks(quick, console.log);
  expect(results.filter(({ verdict }) => verdict !== "failed")).toEqual([]);
}, 600_000);
