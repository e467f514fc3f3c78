import { afterEach, expect, it, vi } from "vitest";
import { printScenarios } from "./print-scenarios.ts";
import { readScenarios } from "./scenarios.ts";

afterEach(() => vi.unstubAllEnvs());

it("every scenario has a name of its own, and ends in something that was seen", () => {
  const scenarios = readScenarios();
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  expect(scenarios.filter(({ steps }) => steps.length === 0)).toEqual([]);
});

it("every call of client-go's queue is among the steps", () => {
  const calls = new Set(readScenarios().flatMap(({ steps }) => steps.map((step) => step.do)));
  const all = "add addAfter addRateLimited advance done forget get shutDown shutDownWithDrain";
  expect([...calls].sort().join(" ")).toBe(all);
});

it("without Go, the error names what to install", async () => {
  vi.stubEnv("PATH", "");
  await expect(printScenarios()).rejects.toThrow(/^Go is missing.*https:\/\/go\.dev/);
});
