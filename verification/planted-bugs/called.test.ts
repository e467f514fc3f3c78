import { testFaults } from "@drover/testing";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { openCalledScenarios } from "../../apps/cli/src/test/called-scenarios.ts";
import { folderOfTest } from "../../packages/testing/src/folder.fixture.ts";
import { isThere } from "../../packages/webhook/conformance/languages.ts";

const root = join(import.meta.dirname, "../..");
const greeting = {
  apiVersion: "examples.drover.dev/v1",
  kind: "Greeting",
  metadata: { name: "ada" },
  spec: { name: "Ada" },
};
const website = {
  apiVersion: "example.com/v1alpha1",
  kind: "Website",
  metadata: { name: "ada" },
  spec: { html: "Hi" },
};

/** Bugs of functions in Python, and plans that find each of them. */
const bugs = [
  {
    name: "counter_in_memory",
    example: "greetings",
    steps: [{ apply: greeting }, { change: "greeting/ada", to: { spec: { name: "Lovelace" } } }],
    foundBy: ["lost answer of write 2 (POST /)", "crash before write 4 (POST /)"],
  },
  {
    name: "other_children",
    example: "website",
    steps: [{ apply: website }],
    foundBy: ["crash after write 2 (patch configmaps default/ada)"],
  },
  {
    name: "unwritten_status",
    example: "website",
    steps: [{ apply: website }],
    foundBy: [
      "crash after write 2 (patch configmaps default/*)",
      "lost answer of write 2 (patch configmaps default/*)",
    ],
  },
];

async function differingPlans({ name, example, steps }: (typeof bugs)[number], variables: string) {
  const folder = folderOfTest();
  writeFileSync(join(folder, "bug.faults.yaml"), stringify({ name, steps }));
  const script = join(root, "verification/planted-bugs/called", `${name}.py`);
  const opened = await openCalledScenarios(folder, ["bug.faults.yaml"], {
    dir: join(root, "examples", example, "deploy"),
    run: `PYTHONPATH=${join(root, "sdk/python")} ${variables} python3 ${script}`,
  });
  onTestFinished(() => opened.close());
  const [scenario] = opened.scenarios;
  if (scenario === undefined) throw new Error("There is no scenario.");
  const { plans, problems } = await testFaults(scenario, { kinds: ["crash", "lost answer"] });
  expect(problems).toEqual([]);
  expect(plans.length).toBeGreaterThan(8);
  return plans.filter(({ outcome }) => outcome !== "same").map(({ description }) => description);
}

describe.skipIf(!isThere("python3"))("a planted bug of a function in Python", { timeout: 300_000 }, () => {
  it.each(bugs)("is found: $name", async (bug) => {
    expect(await differingPlans(bug, "")).toEqual(expect.arrayContaining(bug.foundBy));
    expect(await differingPlans(bug, "FIXED=1")).toEqual([]);
  });
});
