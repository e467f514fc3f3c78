import { testFaults } from "drover/testing";
import { expect, test } from "vitest";
import greeting from "./greeting.faults.ts";

test("whatever goes wrong, a greeting is the same", async () => {
  const { plans, problems } = await testFaults(greeting);
  expect(problems).toEqual([]);
  expect(plans.length).toBeGreaterThan(10);
  expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
