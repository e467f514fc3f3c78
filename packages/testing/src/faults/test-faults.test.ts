import { expect, it } from "vitest";
import { site, siteController } from "../site.fixture.ts";
import { faultScenario, type Scenario } from "./scenario.ts";
import { testFaults } from "./test-faults.ts";

const scenario: Scenario = faultScenario({
  name: "a site is created and changed",
  start: ({ client }) => siteController(client),
  steps: [{ apply: site("a", "Hi") }, { apply: site("a", "Ho") }],
});

it("reports no difference for a correct controller", async () => {
  const report = await testFaults(scenario);
  expect(report.problems).toEqual([]);
  expect(report.plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
