import { expect, it } from "vitest";
import { subjectOf } from "../subjects.ts";
import { runSuite } from "../suite.ts";
import { endpointSlices } from "./family.ts";

// Enough to see that it works; `npm run workloads -- --family endpointslices` runs as many as one likes.
it("our function does not differ from kube-controller-manager", { timeout: 900_000 }, async () => {
  const result = await runSuite({
    family: endpointSlices,
    subject: await subjectOf(endpointSlices),
    sequences: 5,
    seed: 1,
    atOnce: 5,
    shrink: 0,
    repeat: 4,
    log: () => undefined,
  });
  expect(result.differing).toEqual([]);
  expect(result.violatedBySubjectAlone).toEqual([]);
  expect(result.actions).toBeGreaterThan(5);
});
