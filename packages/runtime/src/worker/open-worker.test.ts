import { queueOf, silentLog } from "@drover/controller";
import { expect, it, vi } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { openWorker } from "./open-worker.ts";

const { redis } = await redisOfFile();

it("a worker sends no SCAN, for which it has no permission", async () => {
  const scan = vi.spyOn(redis, "scan");
  const worker = openWorker(
    {
      queue: queueOf({ name: "w" }),
      redis,
      controller: { concurrency: 1, timeout: 1_000, retry: { first: 1_000, longest: 1_000 } },
      log: silentLog,
      times: {},
      runs: { settled: () => undefined },
      version: 0,
      ended: { message: "Reconciled" },
    },
    () => Promise.resolve({ kind: "done" }),
  );
  // A queue does its first upkeep at once, and has closed when that has ended.
  await worker.drain(0);
  await worker.queue.close();
  expect(scan).not.toHaveBeenCalled();
});
