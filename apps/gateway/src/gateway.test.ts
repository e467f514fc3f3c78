import { queueOf, silentLog } from "@drover/controller";
import { TenantRedisError } from "@drover/runtime";
import { expect, it, vi } from "vitest";
import { audienceOf } from "@drover/calls";
import { greetings } from "../../../packages/calls/src/calling.fixture.ts";
import { openGateway } from "./gateway.ts";
import type { WebhookFunction } from "@drover/calls";
import type { FunctionWorker, WorkerResources } from "./work-function.ts";

const functionOf = (name: string, revision: number): WebhookFunction => ({
  ...greetings,
  controller: name,
  queue: queueOf({ namespace: "web", name, uid: "u" }),
  revision,
});

/** A gateway whose workers are in the test's hands; `story` is what became of them. */
function gatewayInHand() {
  const story: string[] = [];
  /** Fires when a worker's Redis is not used any more, by function and revision. */
  const gone = new Map<string, AbortController>();
  const warnings: object[] = [];
  const hand: { isAway: boolean; beforeStop: (words: string) => Promise<unknown> } = {
    isAway: false,
    beforeStop: () => Promise.resolve(),
  };
  const work = (fn: WebhookFunction): FunctionWorker => {
    if (hand.isAway) throw new TenantRedisError("The Redis is away.");
    const words = `${fn.controller} ${fn.revision}`;
    const left = new AbortController();
    gone.set(words, left);
    story.push(`${words} starts`);
    return {
      fn,
      queue: { controller: fn.queue } as unknown as FunctionWorker["queue"],
      gone: left.signal,
      secrets: {} as FunctionWorker["secrets"],
      async stop() {
        await hand.beforeStop(words);
        story.push(`${words} has stopped`);
      },
    };
  };
  const log = { ...silentLog, warn: (fields: object) => warnings.push(fields) };
  const parts = { log } as unknown as WorkerResources;
  return { story, gone, hand, warnings, gateway: openGateway({ ...parts, grace: 1, work }) };
}

it("a worker that does not stop keeps none from starting or stopping, and is not kept", async () => {
  const { story, hand, warnings, gateway } = gatewayInHand();
  hand.beforeStop = (words) => (words === "bad 1" ? Promise.reject(new Error("closed")) : Promise.resolve());
  const [bad, good] = [functionOf("bad", 1), functionOf("good", 1)];
  gateway.register([bad, good]);
  gateway.register([functionOf("bad", 2), functionOf("good", 2)]);
  await expect.poll(() => story).toContain("good 1 has stopped");
  expect(warnings).toEqual([{ function: bad.queue, err: new Error("closed") }]);
  expect(gateway.queues().map(({ controller }) => controller)).toEqual([bad.queue, good.queue]);
  gateway.register([]);
  await gateway.close();
  expect(gateway.secretsOf(audienceOf(bad))).toBeUndefined();
  expect(story).toEqual([
    ...["bad 1 starts", "good 1 starts", "bad 2 starts", "good 2 starts"],
    ...["good 1 has stopped", "bad 2 has stopped", "good 2 has stopped"],
  ]);
});

it("a worker that was replaced leaves its successor alone when its Redis is given up", async () => {
  const { story, gone, gateway } = gatewayInHand();
  gateway.register([functionOf("a", 1)]);
  gateway.register([functionOf("a", 2)]);
  await expect.poll(() => story).toContain("a 1 has stopped");
  gone.get("a 1")?.abort();
  gateway.register([functionOf("a", 2)]);
  expect(story).toEqual(["a 1 starts", "a 2 starts", "a 1 has stopped"]);
  expect(gateway.queues()).toHaveLength(1);
  await gateway.close();
});

it("the note of a function whose Redis is away goes with the function, and with its Redis' return", async () => {
  const { hand, gateway } = gatewayInHand();
  hand.isAway = true;
  gateway.register([functionOf("a", 1), functionOf("b", 1)]);
  expect(gateway.notes()).toEqual(["The Redis is away."]);
  gateway.register([functionOf("b", 1)]);
  hand.isAway = false;
  gateway.register([functionOf("b", 1)]);
  expect(gateway.notes()).toEqual([]);
  await gateway.close();
});

it("the secrets of a function are not those of one that is made again under its name", async () => {
  const { gateway } = gatewayInHand();
  const one = functionOf("a", 1);
  gateway.register([one]);
  expect(gateway.secretsOf(audienceOf(one))).toBeDefined();
  expect(gateway.secretsOf({ ...audienceOf(one), uid: "another" })).toBeUndefined();
  expect(gateway.secretsOf(audienceOf(functionOf("b", 1)))).toBeUndefined();
  await gateway.close();
});

it("a gateway has closed when its workers have stopped, and begins nothing after that", async () => {
  vi.useFakeTimers();
  try {
    const { story, hand, gateway } = gatewayInHand();
    const stopped = Promise.withResolvers<undefined>();
    hand.beforeStop = () => stopped.promise;
    gateway.register([functionOf("a", 1)]);
    const closed = gateway.close().then(() => story.push("closed"));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(story).toEqual(["a 1 starts"]);
    stopped.resolve(undefined);
    await closed;
    expect(story).toEqual(["a 1 starts", "a 1 has stopped", "closed"]);
  } finally {
    vi.useRealTimers();
  }
});
