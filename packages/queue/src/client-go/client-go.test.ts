import { readScenarios } from "@drover/client-go-queue";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { redisOfFile } from "../redis/redis.fixture.ts";
import { openMemoryLedger } from "../memory/memory-ledger.ts";
import { openRedisLedger } from "../ledger/redis-ledger.ts";
import { intendedDifferences } from "./intended-differences.ts";
import { playScenario } from "./play-scenario.ts";
import { advance, readQueue, type OpenScenarioLedger, setResult, scenarioQueue } from "./scenario-queue.ts";

const scenarios = readScenarios();
const differences = new Map(intendedDifferences.flatMap(({ scenarios: named }) => Object.entries(named)));

const { redis } = await redisOfFile();
const ledgers: Readonly<Record<string, OpenScenarioLedger>> = {
  Redis: (options) => openRedisLedger({ ...options, redis, prefix: `{drover:${randomUUID()}}` }),
  memory: (options) => openMemoryLedger(options),
};

describe.each(Object.entries(ledgers))("as client-go's own queue, on the ledger in %s", (_name, open) => {
  it.each(scenarios.filter(({ name }) => !differences.has(name)))("$name: $sentence", async (scenario) => {
    expect(await playScenario(scenario, open)).toEqual([]);
  });

  describe.each(intendedDifferences)("otherwise: $because", ({ scenarios: named }) => {
    it.each(Object.entries(named))("%s", async (name, expected) => {
      const scenario = scenarios.find((each) => each.name === name);
      expect(scenario && (await playScenario(scenario, open))).toEqual(expected);
    });
  });

  it("failures one after the other wait as long as client-go's default delays", async () => {
    const scenario = scenarios.find(({ name }) => name === "default-delays");
    const theirs =
      scenario?.steps.flatMap((step) => (step.do === "addRateLimited" ? [step.delay] : [])) ?? [];
    const queue = await scenarioQueue(open, { first: scenario?.base ?? 0, longest: scenario?.max ?? 0 });
    const ours: (number | undefined)[] = [];
    for (const delay of theirs) {
      await setResult(queue, "a", { failed: true });
      ours.push((await readQueue(queue, "a")).waiting["a"]);
      await advance(queue, delay);
    }
    expect(theirs).toHaveLength(20);
    expect(ours).toEqual(theirs);
  });
});
