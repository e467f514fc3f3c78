import { silentLog } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import type { StreamPlan } from "./plan-streams.ts";
import { expect, it } from "vitest";
import { freshnessBounds } from "./freshness-bounds.ts";

const subscriber = (queue: string, copies: boolean): StreamPlan["subscribers"][number] => ({
  controller: queue,
  queue,
  subscription: { id: queue, for: builtin.configMap, map: { by: "self" }, copies },
});

/** A cluster with a newest version, and queues with a clock; each request advances them. */
function scene(copies = true, others: StreamPlan["subscribers"] = []) {
  const at = { version: 100, ms: 1_000, now: 0, asked: 0, fails: false, isGone: false };
  const client: Pick<KubeClient, "list"> = {
    list: () => {
      at.asked++;
      // A time that is requested after a list is later.
      at.ms += 1_000;
      if (at.fails) return Promise.reject(new Error("no answer"));
      return Promise.resolve({
        resourceVersion: String(at.version),
        items: [],
        continue: undefined,
        remaining: 1,
      });
    },
  };
  const subscribers = [subscriber("a", copies), subscriber("b", false), ...others];
  const plan = { ref: builtin.configMap, namespace: undefined, subscribers };
  const bounds = freshnessBounds({
    plan,
    client,
    signal: new AbortController().signal,
    log: silentLog,
    now: () => at.now,
    isBehind: () => false,
    queueOf(queue) {
      if (at.isGone && queue === "a") throw new Error("It is not registered any more.");
      return {
        time: () =>
          queue === "c" && at.fails
            ? Promise.reject(new Error("no"))
            : Promise.resolve({ incarnation: "e", at: at.ms++ }),
      };
    },
  });
  return { at, bounds };
}
/** Waits until all pending promises have settled. */
const rest = () => new Promise((resolve) => setImmediate(resolve));

it("a list of the newest state gives a time after which newer versions were created", async () => {
  const { bounds } = scene();
  await bounds.beforeListing(true);
  expect(bounds.of("a")).toEqual({ listedAfter: { incarnation: "e", at: 1_000 } });
  bounds.listed("90");
  expect(bounds.of("a").madeAfter).toEqual({ version: "90", moment: { incarnation: "e", at: 1_000 } });
  expect(bounds.of("b")).toEqual({});
  await bounds.beforeListing(false);
  bounds.listed("95");
  expect(bounds.of("a")).toEqual({ madeAfter: { version: "90", moment: { incarnation: "e", at: 1_000 } } });
});

it("lists again every twenty seconds while there are events, and keeps its last bound if a list fails", async () => {
  const { at, bounds } = scene();
  await bounds.beforeListing(true);
  bounds.listed("90");
  at.now = 19_999;
  bounds.keepFresh();
  await rest();
  expect(at.asked).toBe(0);
  at.now = 20_000;
  bounds.keepFresh();
  bounds.keepFresh();
  await rest();
  expect(at.asked).toBe(1);
  expect(bounds.of("a").madeAfter).toEqual({ version: "100", moment: { incarnation: "e", at: 1_001 } });
  at.fails = true;
  at.now = 40_000;
  bounds.keepFresh();
  await rest();
  expect(at.asked).toBe(2);
  expect(bounds.of("a").madeAfter?.version).toBe("100");
});

it("sends no requests if no subscription gets cached objects", async () => {
  const { at, bounds } = scene(false);
  await bounds.beforeListing(true);
  at.now = 60_000;
  bounds.keepFresh();
  await rest();
  expect([at.asked, at.ms]).toEqual([0, 1_000]);
});

it("a queue that does not return its time has no bound, and delays neither the list nor others", async () => {
  const { at, bounds } = scene(true, [subscriber("c", true), subscriber("d", true)]);
  at.isGone = at.fails = true;
  await bounds.beforeListing(true);
  bounds.listed("90");
  expect([bounds.of("a"), bounds.of("c")]).toEqual([{}, {}]);
  const moment = { incarnation: "e", at: 1_000 };
  expect(bounds.of("d")).toEqual({ listedAfter: moment, madeAfter: { version: "90", moment } });
});
