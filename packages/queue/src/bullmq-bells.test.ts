import { objectKey, type ObjectKey, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { Queue } from "bullmq";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Bells, RunFailedError } from "./bells.ts";
import { bullmqBells } from "./bullmq-bells.ts";
import { connectRedis, type RedisConnection } from "./redis-connection.ts";

const prefix = "{drover:bells.test}";
const key = objectKey({ namespace: "a", name: "first" });
let server: RedisServer;
let redis: RedisConnection;
let bells: Bells;
let dashboard: Queue<unknown>;

beforeAll(async () => {
  server = await startRedis({ persistence: false });
  redis = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
  bells = bullmqBells({ redis, prefix, log: silentLog });
  dashboard = new Queue<unknown>("bells", { connection: redis, prefix });
});
afterAll(async () => {
  await bells.close();
  await dashboard.close();
  redis.disconnect();
  await server.stop();
});

it("ring for a key anew, also while the failed bell of a run before is kept", async () => {
  const answered: ObjectKey[] = [];
  const listener = bells.listen((rung) => {
    answered.push(rung);
    return Promise.reject(new RunFailedError(rung, "no such bucket"));
  }, 1);
  for (const number of ["1", "2"]) {
    await bells.add([{ key, number }]);
    await expect.poll(() => dashboard.getFailedCount(), { timeout: 10_000 }).toBe(Number(number));
  }
  expect(answered).toEqual([key, key]);
  await listener.stop();
});

it("show a failed run under its own key, where it was handed over to who had answered another's", async () => {
  const handed = objectKey({ namespace: "a", name: "handed" });
  const listener = bells.listen(() => Promise.reject(new RunFailedError(handed, "refused")), 1);
  await bells.add([{ key: objectKey({ namespace: "a", name: "second" }), number: "1" }]);
  const failed = async () => (await dashboard.getFailed()).map((bell) => [bell.data, bell.failedReason]);
  await expect.poll(failed, { timeout: 10_000 }).toContainEqual([{ key: handed }, "refused"]);
  await listener.stop();
});
