import { type ObjectKey, silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue, type RunOutcome } from "@drover/queue";
import { againAfter, type Contender, type Outcome, type Where } from "./contender.ts";

/** Runs of this bench may hang on purpose. */
const timeout = 3_600_000;

const outcomes: Readonly<Record<Outcome, RunOutcome>> = {
  done: { kind: "done" },
  failed: { kind: "retry", error: "as the bench asked", after: againAfter },
  later: { kind: "done", after: againAfter },
};

/** Drover as it is shipped: everything on, nothing tuned, through its public interface alone. */
export async function openDrover({ url, queue: controller, role }: Where): Promise<Contender> {
  const redis = await connectRedis({ url, clientName: "bench", log: silentLog });
  const queue = openWorkQueue({
    redis,
    controller,
    log: silentLog,
    upkeep: role === "producer" ? "all" : "own",
  });
  let version = 1_000_000;
  const wakeOf = (key: ObjectKey) => ({
    key,
    kind: "buckets.s3.drover.dev",
    resourceVersion: String((version += 1)),
    uid: uidOf(key),
    reason: "Modified",
    class: "change" as const,
  });
  return {
    wake: (keys) => queue.wake(keys.map(wakeOf)),
    work(handler, concurrency) {
      const worker = queue.work(async ({ key }) => outcomes[await handler(key)], { concurrency, timeout });
      return Promise.resolve({ stop: () => worker.drain(5_000) });
    },
    async close() {
      await queue.close();
      await disconnectRedis(redis);
    },
  };
}

/** As long as the API server's uids. */
const uidOf = (key: ObjectKey): string => `uid-${key}-0123456789abcdef0123456789abcdef`.slice(0, 36);
