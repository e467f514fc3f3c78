import { testFaults } from "@drover/testing";
import { expect, test } from "vitest";
import greeting from "./greeting.faults.ts";

test("nothing differs but the counter in memory, which is there for the conformance suite", async () => {
  const { plans, problems } = await testFaults(greeting);
  expect(problems).toEqual([]);
  expect(plans.filter(({ outcome }) => outcome === "unexecuted")).toEqual([]);
  const differences = plans.flatMap((one) => one.differences);
  expect(differences).toContainEqual(expect.stringContaining("status.runs is"));
  expect(differences.filter((one) => !/status\.runs is|update greetings\S+\/status/.test(one))).toEqual([]);
});
