import { join } from "node:path";
import { expect, it } from "vitest";
import { subjectOf } from "./subjects.ts";
import { runSuite } from "./suite.ts";

// Enough to see that it works; `npm run workloads` runs as many as one likes.
it("our functions do not differ from kube-controller-manager", { timeout: 900_000 }, async () => {
  const subject = await subjectOf(join(import.meta.dirname, "our-functions.ts"));
  const result = await runSuite({
    subject,
    sequences: 8,
    seed: 1,
    atOnce: 8,
    shrink: 0,
    log: () => undefined,
  });
  expect(result.differing).toEqual([]);
  expect(result.violatedBySubjectAlone).toEqual([]);
  expect(result.actions).toBeGreaterThan(8);
});
