import { expect, it, vi } from "vitest";
import { attacksIn, runAttacks } from "./run-attacks.ts";

it("of the attacks that do not take long none succeeds, and each can be made", async () => {
  // Of the tests, and no settings of the processes that are attacked.
  for (const variable of ["DROVER_TEST_CLUSTER", "DROVER_KUBECTL"]) vi.stubEnv(variable, undefined);
  const all = await attacksIn(new URL(".", import.meta.url));
  const quick = all.filter(({ attack }) => attack.slow !== true);
  expect(quick.length).toBeGreaterThan(0);
  const results = await runAttacks(quick, console.log);
  expect(results.filter(({ verdict }) => verdict !== "failed")).toEqual([]);
}, 600_000);
