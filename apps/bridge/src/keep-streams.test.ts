import { silentLog } from "@drover/controller";
import { expect, it } from "vitest";
import type { StreamPlan } from "@drover/streams";
import { keepStreams } from "./keep-streams.ts";

const pods: StreamPlan = {
  stream: "v1/pods",
  ref: { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
  ...{ namespace: undefined, labelSelector: undefined, listeners: [] },
  audience: { scope: "* *", listeners: [], queues: [] },
};

it("misses a stream from the moment on at which it is wanted", async () => {
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<undefined>();
  const keeper = keepStreams({
    ...{ bridge: "me", log: silentLog, every: 10_000 },
    bridges: { here: () => Promise.resolve(["me"]), leave: () => Promise.resolve() },
    store: {
      hold: async () => {
        asked.resolve(undefined);
        await answer.promise;
        return { heldBy: "another", for: 1_000 };
      },
      known: () => Promise.resolve([]),
    },
    follow: () => {
      throw new Error("nothing is held");
    },
  });
  expect(keeper.missing()).toEqual([]);
  keeper.want([pods], new Set(["v1/pods"]));
  expect(keeper.missing()).toEqual(["pods/v1 is not looked after yet"]);
  await asked.promise;
  expect(keeper.missing()).toEqual(["pods/v1 is not looked after yet"]);
  answer.resolve(undefined);
  await expect.poll(() => keeper.missing()).toEqual(["pods/v1 is still held by another"]);
  await keeper.stop();
});

it("takes a stream for nobody's only by a wish that it looked after", async () => {
  const held: string[] = [];
  const hereAsked = Promise.withResolvers<undefined>();
  const here = Promise.withResolvers<readonly string[]>();
  const keeper = keepStreams({
    ...{ bridge: "me", log: silentLog, every: 10_000 },
    bridges: {
      here: () => {
        hereAsked.resolve(undefined);
        return here.promise;
      },
      leave: () => Promise.resolve(),
    },
    store: {
      hold: (stream, { listeners }) => {
        held.push(`${stream} for ${listeners.join()}`);
        return Promise.resolve({ heldBy: "another", for: 1_000 });
      },
      known: () => Promise.resolve(["v1/pods", "v1/old"]),
    },
    follow: () => {
      throw new Error("nothing is held");
    },
  });
  // It has begun to look before it knows what is wanted.
  await hereAsked.promise;
  keeper.want([{ ...pods, audience: { scope: "* *", listeners: ["me"], queues: [] } }], new Set(["v1/pods"]));
  here.resolve(["me"]);
  await expect.poll(() => held).toContain("v1/old for ");
  expect(held).not.toContain("v1/pods for ");
  await keeper.stop();
});
