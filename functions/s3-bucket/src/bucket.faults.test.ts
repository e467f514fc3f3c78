import { testFaults } from "@drover/testing";
import { expect, test } from "vitest";
import { adoptedAndRetained, madeAndDeleted } from "./bucket.faults.ts";

// A life for each of some fifty plans.
const testOptions = { timeout: 300_000 };

test.each([madeAndDeleted, adoptedAndRetained])(
  "$name, whatever goes wrong",
  testOptions,
  async (scenario) => {
    const { problems, plans } = await testFaults(scenario);
    expect(problems).toEqual([]);
    expect(plans.length).toBeGreaterThan(30);
    expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
  },
);
