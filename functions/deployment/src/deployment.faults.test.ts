import { testFaults } from "@drover/testing";
import { expect, test } from "vitest";
import { recreated, rolled } from "./deployment.faults.ts";

// A life for each of some hundred plans.
const testOptions = { timeout: 900_000 };

test.each([rolled, recreated])("$name, whatever goes wrong", testOptions, async (scenario) => {
  const { problems, plans } = await testFaults(scenario);
  expect(problems).toEqual([]);
  expect(plans.length).toBeGreaterThan(20);
  expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
