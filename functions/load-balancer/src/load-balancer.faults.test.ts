import { testFaults } from "drover/testing";
import { expect, test } from "vitest";
import { served } from "./load-balancer.faults.ts";

// A life for each of some eighty plans.
const testOptions = { timeout: 900_000 };

test(`${served.name}, whatever goes wrong`, testOptions, async () => {
  const { problems, plans } = await testFaults(served);
  expect(problems).toEqual([]);
  expect(plans.length).toBeGreaterThan(30);
  expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
