import { expect, it, vi } from "vitest";
import { attacksIn, runAttacks } from "./run-attacks.ts";

it("no quick attack succeeds, and each can be made", async () => {
  // Settings of the tests; the attacked processes must not get them.
  for (const variable of ["DROVER_TEST_CLUSTER", "DROVER_KUBECTL"]) vi.stubEnv(variable, undefined);
  const all = await attacksIn(new URL(".", import.meta.url));
  const quick = all.filter(({ attack }) => attack.slow !== true);
  expect(quick.length).toBeGreaterThan(0);
  const results = await runAttacks(quick, console.log);
  expect(results.filter(({ verdict }) => verdict !== "failed")).toEqual([]);
}, 600_000);
