import { defineConfig } from "vitest/config";

const cluster = process.env["DROVER_TEST_CLUSTER"];

// Three suites, one runner. `*.real.test.ts` needs what is built from Go modules, `verification/end-to-end` runs
// with it and without; `*.pods.test.ts` needs a node on which pods run. What is about workers and their queue need not be twice.
const included: Record<string, string[]> = {
  real: ["**/*.real.test.ts", "verification/end-to-end/**/*.test.ts"],
  node: ["**/*.pods.test.ts"],
};
const once = ["killed-worker", "stopped-worker", "rolled-out"].map(
  (name) => `verification/end-to-end/*/${name}.test.ts`,
);
const apart = ["**/*.real.test.ts", "**/*.pods.test.ts"];

export default defineConfig({
  test: {
    include: included[cluster ?? ""] ?? [
      "{packages,functions,apps,examples,tools,bench,verification}/**/*.test.ts",
    ],
    // Child processes have wall clocks that are minutes apart, as machines may.
    env: { LOCAL_CLOCKS: "apart" },
    exclude: ["**/node_modules/**", ...(cluster === undefined ? apart : once)],
    // Not how long it takes, but when a busy machine is no excuse any more.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: cluster === "node" ? 240_000 : 60_000,
    hookTimeout: 120_000,
    // A cluster with a node takes both cores of a small machine, and bundles are written to one place.
    maxWorkers: cluster === "node" ? 1 : 2,
  },
});
