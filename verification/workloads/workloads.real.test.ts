import { expect, it } from "vitest";
import { deployments } from "./deployments/family.ts";
import { subjectOf } from "./subjects.ts";
import { runSuite } from "./suite.ts";

// Enough to see that it works; `npm run workloads` runs as many as one likes.
it("our functions do not differ from kube-controller-manager", { timeout: 900_000 }, async () => {
  const subject = await subjectOf(deployments);
  const result = await runSuite({
    family: deployments,
    subject,
    sequences: 8,
    seed: 1,
    atOnce: 8,
    shrink: 0,
    repeat: 4,
    log: () => undefined,
  });
  expect(result.differing).toEqual([]);
  expect(result.violatedBySubjectAlone).toEqual([]);
  expect(result.actions).toBeGreaterThan(8);
});
