import { testFaults } from "@drover/testing";
import { expect, test } from "vitest";
import { composed, elsewhere, waves } from "./compose.faults.ts";

test.each([composed, waves, elsewhere])(
  "$name, whatever goes wrong",
  { timeout: 300_000 },
  async (scenario) => {
    const { problems, plans } = await testFaults(scenario);
    expect(problems).toEqual([]);
    expect(plans.length).toBeGreaterThan(40);
    expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
  },
);
