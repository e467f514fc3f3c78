import { beforeAll, describe, expect, it } from "vitest";
import { allCases } from "./cases/index.ts";
import { describeDifferences } from "./compare.ts";
import { runSuite } from "./suite.ts";
import type { SuiteResult } from "./suite.ts";

/** Enough to find what a change breaks; `npm run conformance` runs as many as one likes. */
const [sequences, rules] = [100, 3];

describe("against a real API server", () => {
  let result: SuiteResult;
  beforeAll(async () => void (result = await runSuite({ sequences, rules, seed: 1 })), 900_000);

  it.each(allCases.map(({ name }) => name))("%s", (name) => {
    const found = result.failed.find((one) => one.name === name)?.found ?? [];
    expect(describeDifferences(found)).toBe("");
  });

  it("each allowed difference is met", () => {
    expect(result.unused.map(({ reason }) => reason)).toEqual([]);
  });

  it("random rules do not differ", () => {
    expect(result.rules.evaluations).toBeGreaterThan(3000);
    expect(describeDifferences(result.rules.found)).toBe("");
  });

  it("generated sequences do not differ", () => {
    expect(result.sequences.differing.map((one) => `${one.name}\n${describeDifferences(one.found)}`)).toEqual(
      [],
    );
  });
});
