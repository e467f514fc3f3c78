import { expect, it } from "vitest";
import { openDrover } from "./contestants/drover.ts";
import { historyOf } from "./histories/generate.ts";
import { shownFailure } from "./report.ts";
import { runSuite } from "./suite.ts";

// Metacontroller is not built here. `npm run metacontroller` compares with it.
it("makes the children of generated histories as declared", { timeout: 900_000 }, async () => {
  const failures: string[] = [];
  const { compared } = await runSuite({
    reference: undefined,
    subject: openDrover,
    histories: Array.from({ length: 6 }, (_, seed) => historyOf(seed)),
    atOnce: 3,
    log: () => undefined,
    failed: (failure) => failures.push(shownFailure(failure)),
  });
  expect(failures).toEqual([]);
  expect(compared).toBeGreaterThan(30);
});
