import { expect, it } from "vitest";
import { subjectOf } from "../subjects.ts";
import { runSuite } from "../suite.ts";
import { daemonSets } from "./family.ts";

// Enough to see that it works; `npm run workloads -- --family daemonsets` runs as many as one likes.
it("our function does not differ from kube-controller-manager", { timeout: 900_000 }, async () => {
  const result = await runSuite({
    family: daemonSets,
    subject: await subjectOf(daemonSets),
    sequences: 4,
    seed: 1,
    atOnce: 4,
    shrink: 0,
    repeat: 4,
    log: () => undefined,
  });
  expect(result.differing).toEqual([]);
  expect(result.violatedBySubjectAlone).toEqual([]);
  expect(result.actions).toBeGreaterThan(4);
});
