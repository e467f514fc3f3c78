import type { Log } from "@drover/controller";
import { expect, it } from "vitest";
import { keepStreams } from "./keep-streams.ts";
import type { StreamPlan } from "./plan-streams.ts";

const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const pods: StreamPlan = {
  stream: "v1/pods",
  ref: { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
  ...{ namespace: undefined, labelSelector: undefined, listeners: [] },
  audience: { scope: "* *", listeners: [] },
};

it("misses a stream from the moment on at which it is wanted", async () => {
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<undefined>();
  const keeper = keepStreams({
    ...{ bridge: "me", log, every: 10_000 },
    bridges: { here: () => Promise.resolve(["me"]), leave: () => Promise.resolve() },
    store: {
      hold: async () => {
        asked.resolve(undefined);
        await answer.promise;
        return { heldBy: "another", for: 1_000 };
      },
    },
    follow: () => {
      throw new Error("nothing is held");
    },
  });
  expect(keeper.missing()).toEqual([]);
  keeper.want([pods]);
  expect(keeper.missing()).toEqual(["v1/pods is not looked after yet"]);
  await asked.promise;
  expect(keeper.missing()).toEqual(["v1/pods is not looked after yet"]);
  answer.resolve(undefined);
  await expect.poll(() => keeper.missing()).toEqual(["v1/pods is still held by another"]);
  await keeper.stop();
});
