import { testFaults } from "@drover/testing";
import { expect, test } from "vitest";
import { adoptedAndRetained, madeAndDeleted, settingsChanged } from "./bucket.faults.ts";
import { settingSamples } from "./testing/samples/setting-samples.ts";

// A life for each of some fifty plans.
const testOptions = { timeout: 900_000 };

const lifecycle = settingSamples.filter(({ name }) => name === "lifecycle");

test.each([madeAndDeleted, adoptedAndRetained, settingsChanged(lifecycle)])(
  "$name, whatever goes wrong",
  testOptions,
  async (scenario) => {
    const { problems, plans } = await testFaults(scenario);
    expect(problems).toEqual([]);
    expect(plans.length).toBeGreaterThan(30);
    expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
  },
);
