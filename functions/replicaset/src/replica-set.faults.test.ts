import { testFaults } from "@drover/testing";
import { expect, test } from "vitest";
import { adopted, scaled } from "./replica-set.faults.ts";

// A life for each of some hundred plans.
const testOptions = { timeout: 900_000 };

test.each([scaled, adopted])("$name, whatever goes wrong", testOptions, async (scenario) => {
  const { problems, plans } = await testFaults(scenario);
  expect(problems).toEqual([]);
  expect(plans.length).toBeGreaterThan(20);
  expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
