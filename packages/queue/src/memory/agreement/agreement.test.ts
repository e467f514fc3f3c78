import { objectKey } from "@drover/controller";
import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { afterAll, expect, it } from "vitest";
import { type PlayedAnswer, playInMemory, type PlayedStep } from "./play-in-memory.ts";
import { recordAssignmentsInRedis, loadScripts, playInRedis } from "./play-in-redis.ts";
import { type RandomCall, randomCalls, type RandomEvent, times } from "./random-calls.ts";
import { claimRefusals, type RunOutcome, type Wake } from "../../work-queue/work-queue.ts";
import { bareRedisOfFile } from "../../redis/redis.fixture.ts";
import { maxFlowsChecked } from "../../redis/lua/script-bounds.ts";
import type { ClaimJob } from "../../worker/job-queue.ts";

const sequences = Number(process.env["LEDGER_SEQUENCES"] ?? 400);
const seed = Number(process.env["LEDGER_SEED"] ?? 1);

const { redis } = await bareRedisOfFile();
await loadScripts(redis);
const received = recordAssignmentsInRedis(redis);
await received.caughtUp();
afterAll(() => received.stop());

it("the ledgers in Redis and in memory answer the same, whatever happens", { timeout: 0 }, async () => {
  const seen = new Set<string>();
  const property = fc.asyncProperty(randomCalls, async (calls) => {
    for (const answer of await sameAnswers(calls))
      for (const outcome of outcomesIn(answer)) seen.add(outcome);
  });
  await fc.assert(property, { numRuns: sequences, seed });
  expect([...seen].sort(), "the random calls lead nowhere").toEqual(Object.keys(outcomes).sort());
});

it("they do a bounded part of the work at once, and the same part", async () => {
  const all = Array.from({ length: 1_100 }, (_, i) =>
    objectKey({ namespace: `ns${i % 500}`, name: `n${i}` }),
  );
  const results: readonly RunOutcome[] = [
    { kind: "done", after: 1_000 },
    { kind: "throttled", account: "s3", after: 2_000 },
  ];
  const wakes = all.map((key): Wake => ({
    key,
    kind: "k",
    resourceVersion: "1",
    reason: "Added",
    class: "change",
  }));
  const backoff = { first: 1_000, longest: 1_000 };
  const worker = { worker: "w", slots: 2_000, version: 0, lasts: 1_000_000, backoff, accounts: {} };
  const claims = all.map((key) => ({ call: "claim", key, token: "t", version: 0 }) as const);
  const settles = all.map((key, i) => {
    const outcome = results[i % 2] ?? { kind: "done" };
    return { call: "settle unknown", key, token: "t", outcome } as const;
  });
  const dispatches = (length: number) => Array.from({ length }, () => ({ call: "dispatch" }) as const);
  const answers = await sameAnswers([
    { call: "register worker", worker },
    { event: "clock", by: times.recoveryWindow },
    ...Array.from({ length: Math.ceil(wakes.length / maxFlowsChecked) }, (_, i) => {
      const some = wakes.slice(i * maxFlowsChecked, (i + 1) * maxFlowsChecked);
      return { call: "wake", wakes: some, force: false } as const;
    }),
    { event: "clock", by: 2_000 },
    { call: "unclaimed jobs", minAge: 2_000 },
    ...claims,
    { event: "clock", by: times.lease },
    ...dispatches(12),
    ...claims,
    ...settles,
    { event: "clock", by: 2_000 },
    ...dispatches(6),
  ]);
  const jobs = answers
    .map((each) => (isDispatch(each?.answer) ? each.answer.jobs.length : 0))
    .filter(Boolean);
  // Of 1,100 leases that end, 100 a call; then 550 keys by 200, with 250 flows that open by 200.
  expect(jobs.slice(0, 11)).toEqual(Array.from({ length: 11 }, () => 100));
  expect(jobs.slice(11).length).toBeGreaterThan(2);
});

const isDispatch = (answer: unknown): answer is { readonly jobs: readonly ClaimJob[] } =>
  typeof answer === "object" && answer !== null && "jobs" in answer && !("kind" in answer);

/** Plays calls on both; answers what they answered, if it was the same. */
async function sameAnswers(
  calls: readonly (RandomCall | RandomEvent)[],
): Promise<readonly (PlayedAnswer | undefined)[]> {
  const { steps, answers } = await playInMemory(calls);
  const others = await playInRedis(redis, steps, received);
  for (const [i, answer] of answers.entries()) {
    if (!isDeepStrictEqual(answer, others[i])) throw new Error(difference(steps, answers, others[i], i));
  }
  return answers;
}

/** What the random calls must have led to for their agreement to mean anything, and how it looks in an answer. */
const outcomes = {
  ...Object.fromEntries(claimRefusals.map((refusal) => [refusal, `"refused":"${refusal}"`])),
  claimed: '"claimed"',
  chained: '"chained"',
  batched: '"why":"batch"',
  assigned: '"token":"t',
  stale: '"stale"',
  "due later": '"dueIn"',
  "a new incarnation": '"isNewIncarnation":true',
  "another object": '"replaced"',
  "a cached object": /"cachedObject":"\{\\"a/,
  "a cached object that was left": /"cachedObject":"\{\\"left/,
  "a throttled account": /"accountOpens":[1-9]/,
};
const outcomesIn = (answer: PlayedAnswer | undefined): readonly string[] => {
  const text = JSON.stringify(answer ?? null);
  return Object.entries(outcomes).flatMap(([name, look]) => (text.search(look) >= 0 ? [name] : []));
};

function difference(
  steps: readonly PlayedStep[],
  answers: readonly (PlayedAnswer | undefined)[],
  other: PlayedAnswer | undefined,
  at: number,
): string {
  const trace = steps.slice(0, at + 1).map(({ text }, i) => `${i}. ${text} -> ${JSON.stringify(answers[i])}`);
  return [...trace, "", `memory: ${JSON.stringify(answers[at])}`, `Redis:  ${JSON.stringify(other)}`].join(
    "\n",
  );
}
