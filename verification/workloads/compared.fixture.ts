import { expect, it } from "vitest";
import type { Family } from "./family.ts";
import { subjectOf } from "./subjects.ts";
import { runSuite } from "./suite.ts";

/** A test with so many sequences of a family: enough to see that it works. `npm run workloads` runs as many as one likes. */
export const itDoesNotDiffer = (family: Family, sequences: number): void =>
  it("our functions do not differ from kube-controller-manager", { timeout: 900_000 }, async () => {
    const result = await runSuite({
      family,
      subject: await subjectOf(family),
      sequences,
      seed: 1,
      atOnce: sequences,
      shrink: 0,
      repeat: 4,
      log: () => undefined,
    });
    expect(result.differing).toEqual([]);
    expect(result.violatedBySubjectAlone).toEqual([]);
    expect(result.actions).toBeGreaterThan(sequences);
  });
