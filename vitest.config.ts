import { join } from "node:path";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { unitTests } from "./tools/bootstrap/unit-tests.mjs";

const cluster = process.env["DROVER_TEST_CLUSTER"];

// Three suites, one runner. `*.real.test.ts` needs what is built from Go modules, `verification/end-to-end` runs
// with it and without; `*.pods.test.ts` needs a node on which pods run. What depends little on the API server runs only without.
const included: Record<string, string[]> = {
  real: ["**/*.real.test.ts", "verification/end-to-end/**/!(*.pods).test.ts"],
  node: ["**/*.pods.test.ts"],
};
const once = ["killed-worker", "stopped-worker", "rolled-out", "tenants", "canaries", "drover-command"].map(
  (name) => `verification/end-to-end/*/${name}.test.ts`,
);
const excluded = ["**/node_modules/**", ".cache/**"];
const apart = ["**/*.real.test.ts", "**/*.pods.test.ts"];

/** Each takes minutes. One that started last would run alone at the end, and a new machine has no record of the times. */
const long =
  /(faults|attacks\.real|dev|dev-cluster|planted-bugs|start|simulation|drover-command|examples|killed-worker|canaries|removed-function|tenants)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(long.test(b.moduleId)) - Number(long.test(a.moduleId)));
  }
}

const project = (name: string, test: object): TestProjectConfiguration => ({
  extends: true,
  test: { name, ...test },
});

/** The tests that start no process come first. Their files share processes, so that each module is loaded once. */
async function unitsAndServers(): Promise<TestProjectConfiguration[]> {
  const units = await unitTests(import.meta.dirname);
  return [
    project("unit", { include: units, isolate: false, sequence: { groupOrder: 0 } }),
    project("servers", {
      include: ["{packages,functions,apps,examples,tools,bench,verification}/**/*.test.ts"],
      exclude: [...excluded, ...apart, ...units],
      sequence: { groupOrder: 1 },
    }),
  ];
}

export default defineConfig({
  test: {
    projects:
      cluster === undefined
        ? await unitsAndServers()
        : [project(cluster, { include: included[cluster], exclude: [...excluded, ...once] })],
    env: {
      // Child processes have wall clocks that are minutes apart, as machines may.
      LOCAL_CLOCKS: "apart",
      // They load modules that an earlier one has compiled.
      NODE_COMPILE_CACHE: join(import.meta.dirname, ".cache/compiled"),
    },
    sequence: { sequencer: LongFirst },
    // Not how long it takes, but when a busy machine is no excuse any more.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: cluster === "node" ? 240_000 : 60_000,
    hookTimeout: 120_000,
    // A file may not find what one before it replaced.
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    // A cluster with a node takes both cores of a small machine, and bundles are written to one place.
    maxWorkers: cluster === "node" ? 1 : 2,
  },
});
