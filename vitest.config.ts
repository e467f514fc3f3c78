import { defineConfig } from "vitest/config";

const real = process.env["DROVER_TEST_CLUSTER"] === "real";

// Two suites, one runner. `*.real.test.ts` needs what is built from Go modules; `tests/end-to-end` runs in both.
export default defineConfig({
  test: {
    include: real
      ? ["**/*.real.test.ts", "tests/end-to-end/**/*.test.ts"]
      : ["{packages,functions,apps,tools,tests,bench}/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(real ? [] : ["**/*.real.test.ts"])],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
