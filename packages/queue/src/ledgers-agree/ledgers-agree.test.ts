import { type RedisServer, startRedis } from "@drover/local-servers";
import fc from "fast-check";
import { Redis } from "ioredis";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Answer, playInMemory, type Step } from "./play-in-memory.ts";
import { loadScripts, playInRedis } from "./play-in-redis.ts";
import { randomCalls } from "./random-calls.ts";

const sequences = Number(process.env["LEDGER_SEQUENCES"] ?? 400);
const seed = Number(process.env["LEDGER_SEED"] ?? 1);

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis({ persistence: false });
  redis = new Redis(server.url);
  await loadScripts(redis);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

it("the ledgers in Redis and in memory answer the same, whatever happens", { timeout: 0 }, async () => {
  const seen = new Set<string>();
  const property = fc.asyncProperty(randomCalls, async (calls) => {
    const { steps, answers } = await playInMemory(calls);
    const others = await playInRedis(redis, steps);
    for (const [i, answer] of answers.entries()) {
      if (!isDeepStrictEqual(answer, others[i])) throw new Error(difference(steps, answers, others[i], i));
      for (const outcome of outcomesIn(answer)) seen.add(outcome);
    }
  });
  await fc.assert(property, { numRuns: sequences, seed });
  expect([...seen].sort(), "the random calls lead nowhere").toEqual(Object.keys(outcomes).sort());
});

/** What the random calls must have led to for their agreement to mean anything, and how it looks in an answer. */
const outcomes = {
  ...Object.fromEntries(
    [
      "leased",
      "parked",
      "waiting",
      "nothing due",
      "not its turn",
      "paused",
      "throttled",
      "outdated",
      "settling",
    ].map((refusal) => [refusal, `"refused":"${refusal}"`]),
  ),
  claimed: '"claimed"',
  stale: '"stale"',
  "due later": '"dueIn"',
  "a new era": '"newEra":true',
  "another object": '"replaced"',
  "a closed account": /"accountOpens":[1-9]/,
};
const outcomesIn = (answer: Answer | undefined): readonly string[] => {
  const text = JSON.stringify(answer ?? null);
  return Object.entries(outcomes).flatMap(([name, look]) => (text.search(look) >= 0 ? [name] : []));
};

function difference(
  steps: readonly Step[],
  answers: readonly (Answer | undefined)[],
  other: Answer | undefined,
  at: number,
): string {
  const trace = steps.slice(0, at + 1).map(({ text }, i) => `${i}. ${text} -> ${JSON.stringify(answers[i])}`);
  return [...trace, "", `memory: ${JSON.stringify(answers[at])}`, `Redis:  ${JSON.stringify(other)}`].join(
    "\n",
  );
}
