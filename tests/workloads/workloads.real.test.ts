import { expect, it } from "vitest";
import { reference } from "./subjects.ts";
import { runSuite } from "./suite.ts";

// Enough to see that it works; `npm run workloads` runs as many as one likes.
it(
  "kube-controller-manager does not differ from itself, and breaks no rule",
  { timeout: 900_000 },
  async () => {
    const result = await runSuite({
      ...{ subject: reference, sequences: 8, seed: 1, atOnce: 8, shrink: 0 },
      log: () => undefined,
    });
    expect(result.differing).toEqual([]);
    expect(result.violated).toEqual([]);
    expect(result.actions).toBeGreaterThan(8);
  },
);
