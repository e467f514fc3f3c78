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

/** A cluster whose newest version goes up, and queues whose clock does; both are asked after the other. */
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
  const moments = freshnessBounds({
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
  return { at, moments };
}
/** All that was begun has come to its end. */
const rest = () => new Promise((resolve) => setImmediate(resolve));

it("a list of the newest state gives a time after which newer versions were created", async () => {
  const { moments } = scene();
  await moments.beforeListing(true);
  expect(moments.of("a")).toEqual({ listedAfter: { incarnation: "e", at: 1_000 } });
  moments.listed("90");
  expect(moments.of("a").madeAfter).toEqual({ version: "90", moment: { incarnation: "e", at: 1_000 } });
  expect(moments.of("b")).toEqual({});
  await moments.beforeListing(false);
  moments.listed("95");
  expect(moments.of("a")).toEqual({ madeAfter: { version: "90", moment: { incarnation: "e", at: 1_000 } } });
});

it("asks anew while there are events, every twenty seconds, and keeps what it knows where nobody answers", async () => {
  const { at, moments } = scene();
  await moments.beforeListing(true);
  moments.listed("90");
  at.now = 19_999;
  moments.keepFresh();
  await rest();
  expect(at.asked).toBe(0);
  at.now = 20_000;
  moments.keepFresh();
  moments.keepFresh();
  await rest();
  expect(at.asked).toBe(1);
  expect(moments.of("a").madeAfter).toEqual({ version: "100", moment: { incarnation: "e", at: 1_001 } });
  at.fails = true;
  at.now = 40_000;
  moments.keepFresh();
  await rest();
  expect(at.asked).toBe(2);
  expect(moments.of("a").madeAfter?.version).toBe("100");
});

it("asks nothing if no subscription gets cached objects", async () => {
  const { at, moments } = scene(false);
  await moments.beforeListing(true);
  at.now = 60_000;
  moments.keepFresh();
  await rest();
  expect([at.asked, at.ms]).toEqual([0, 1_000]);
});

it("for a queue that does not return its time there is no bound, and others and the list do not wait for it", async () => {
  const { at, moments } = scene(true, [subscriber("c", true), subscriber("d", true)]);
  at.isGone = at.fails = true;
  await moments.beforeListing(true);
  moments.listed("90");
  expect([moments.of("a"), moments.of("c")]).toEqual([{}, {}]);
  const moment = { incarnation: "e", at: 1_000 };
  expect(moments.of("d")).toEqual({ listedAfter: moment, madeAfter: { version: "90", moment } });
});
