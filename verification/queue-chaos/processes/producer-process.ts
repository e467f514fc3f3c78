/** A bridge, as the queue sees it: it wakes changed keys, again and again until the wake is acknowledged. */
import { parseObjectKey } from "@drover/controller";
import type { Wake } from "@drover/queue";
import { setTimeout as delay } from "node:timers/promises";
import { joinWithQueue } from "./join-with-queue.ts";

const { world, opened } = await joinWithQueue();
let stopping = false;
const underWay = new Set<Promise<void>>();
world.on("wake", ({ batch, wakes }) => {
  const waking = wakeUntilAcknowledged(
    batch,
    wakes.map(({ key, version, class: urgency }) => ({
      key: parseObjectKey(key),
      kind: "things",
      resourceVersion: String(version),
      reason: urgency === "listing" ? "Listed" : "Modified",
      class: urgency,
    })),
  ).finally(() => underWay.delete(waking));
  underWay.add(waking);
});
process.once("SIGTERM", () => {
  void (async () => {
    stopping = true;
    await opened.close(); // gives up what is not acknowledged
    await Promise.all(underWay);
    world.leave();
  })();
});
world.report({ fact: "up" });

async function wakeUntilAcknowledged(batch: number, wakes: readonly Wake[]): Promise<void> {
  while (!stopping) {
    try {
      await opened.queue.wake(wakes);
      world.report({ fact: "acknowledged", batch });
      return;
    } catch (error) {
      world.report({ fact: "refused", batch, error: String(error) });
      await delay(25);
    }
  }
}
