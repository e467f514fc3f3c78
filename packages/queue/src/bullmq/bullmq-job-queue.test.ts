import { objectKey, type ObjectKey, silentLog } from "@drover/controller";
import { Queue } from "bullmq";
import { isDeepStrictEqual } from "node:util";
import { afterAll, expect, it, vi } from "vitest";
import { RunFailedError } from "../worker/job-queue.ts";
import { openBullmqJobQueue } from "./bullmq-job-queue.ts";
import { connectRedis } from "../redis/redis-connection.ts";
import { RedisRefusalError } from "../redis/redis-errors.ts";
import { redisUserRules } from "../redis/users/redis-users.ts";
import { redisOfFile } from "../redis/redis.fixture.ts";

const prefix = "{drover:jobs.test}";
const key = objectKey({ namespace: "a", name: "first" });
const { server, redis } = await redisOfFile();
const jobQueue = openBullmqJobQueue({ redis, prefix, log: silentLog });
const dashboard = new Queue<unknown>("jobs", { connection: redis, prefix });

afterAll(async () => {
  await jobQueue.close();
  await dashboard.close();
});

it("are added for a key again, also while the failed job of an earlier run is kept", async () => {
  const answered: ObjectKey[] = [];
  const listener = jobQueue.consume((woken) => {
    answered.push(woken);
    return Promise.reject(new RunFailedError(woken, "no such bucket"));
  }, 1);
  for (const number of ["1", "2"]) {
    await jobQueue.add([{ key, number }]);
    await expect.poll(() => dashboard.getFailedCount(), { timeout: 10_000 }).toBe(Number(number));
  }
  expect(answered).toEqual([key, key]);
  await listener.stop();
});

it("show a failed run under its own key, where it was chained to the run of another key", async () => {
  const chained = objectKey({ namespace: "a", name: "chained" });
  const listener = jobQueue.consume(() => Promise.reject(new RunFailedError(chained, "refused")), 1);
  await jobQueue.add([{ key: objectKey({ namespace: "a", name: "second" }), number: "1" }]);
  const failed = async () => (await dashboard.getFailed()).map((job) => [job.data, job.failedReason]);
  await expect.poll(failed, { timeout: 10_000 }).toContainEqual([{ key: chained }, "refused"]);
  await listener.stop();
});

it("tell of one failed run of a key at a time, and of the next when that one was shown", async () => {
  const failing = objectKey({ namespace: "a", name: "failing" });
  const shown = async () => (await dashboard.getFailed()).filter(({ data }) => isDeepStrictEqual(data, told));
  const told = { key: failing, failed: "no" };
  for (let i = 0; i < 3; i++) await jobQueue.addFailed(new RunFailedError(failing, "no"));
  expect(await dashboard.getWaitingCount()).toBe(1);
  const listener = jobQueue.consume(() => Promise.resolve(), 1);
  await expect.poll(shown, { timeout: 10_000 }).toHaveLength(1);
  await jobQueue.addFailed(new RunFailedError(failing, "no"));
  await expect.poll(shown, { timeout: 10_000 }).toHaveLength(2);
  await listener.stop();
});

it("tell of each key whose run failed", async () => {
  const keys = ["one", "two"].map((name) => objectKey({ namespace: "a", name }));
  for (const each of keys) await jobQueue.addFailed(new RunFailedError(each, "no"));
  expect(await dashboard.getWaitingCount()).toBe(2);
  const listener = jobQueue.consume(() => Promise.resolve(), 1);
  const shown = async () => (await dashboard.getFailed()).map((job) => job.data);
  await expect
    .poll(shown, { timeout: 10_000 })
    .toEqual(expect.arrayContaining(keys.map((each) => ({ key: each, failed: "no" }))));
  await listener.stop();
});

it("say what Redis refused to whoever adds them, or tells of a failed run", async () => {
  await redis.call(
    "ACL",
    "SETUSER",
    "mute",
    ...redisUserRules({ role: "function", controllers: ["another"] }).split(" "),
    ">secret",
  );
  const url = server.url.replace("//", "//mute:secret@");
  const mute = await connectRedis({ url, clientName: "mute", log: silentLog, loadsScripts: false });
  const mine = openBullmqJobQueue({ redis: mute, prefix, log: silentLog });
  await expect(mine.add([{ key, number: "5" }])).rejects.toThrow(RedisRefusalError);
  await expect(mine.addFailed(new RunFailedError(key, "no"))).rejects.toThrow(RedisRefusalError);
  await mine.close();
  mute.disconnect();
});

it("are asked for again now and then while Redis refuses it, and answered once it does not", async () => {
  const rules = redisUserRules({ role: "function", controllers: ["another"] });
  await redis.call("ACL", "SETUSER", "poor", ...rules.split(" "), ">secret");
  const url = server.url.replace("//", "//poor:secret@");
  const poor = await connectRedis({ url, clientName: "poor", log: silentLog, loadsScripts: false });
  let refusals = 0;
  const mine = openBullmqJobQueue({ redis: poor, prefix, log: { ...silentLog, warn: () => refusals++ } });
  const answered: ObjectKey[] = [];
  const listener = mine.consume((woken) => {
    answered.push(woken);
    return Promise.resolve();
  }, 1);
  await expect.poll(() => refusals).toBeGreaterThan(0);
  for (let i = 0; i < 2_000; i++) await redis.ping();
  // By then it would have been refused some hundred times.
  expect(refusals).toBeLessThan(20);

  await jobQueue.add([{ key, number: "3" }]);
  await redis.call("ACL", "SETUSER", "poor", `~${prefix}*`);
  await expect.poll(() => answered, { timeout: 10_000 }).toEqual([key]);
  await Promise.all([listener.stop(), mine.close()]);
  poor.disconnect();
});

it("are listened to until the last answer has come to its end, however long that takes", async () => {
  const answer = Promise.withResolvers<undefined>();
  const taken = Promise.withResolvers<undefined>();
  const listener = jobQueue.consume(() => (taken.resolve(undefined), answer.promise), 1);
  await jobQueue.add([{ key, number: "4" }]);
  await taken.promise;
  const timers = vi.spyOn(globalThis, "setInterval");
  const stopped = vi.fn();
  const stopping = listener.stop().then(stopped);
  for (let i = 0; i < 5; i++) for (const [goOff] of timers.mock.calls) goOff();
  await redis.ping();
  expect(stopped).not.toHaveBeenCalled();
  answer.resolve(undefined);
  await stopping;
  timers.mockRestore();
});

it("wait until a worker takes them, and no longer, though it never answers", async () => {
  const job = { key: objectKey({ namespace: "a", name: "taken" }), number: "1" };
  await jobQueue.add([job]);
  expect(await jobQueue.stillWaiting([job])).toEqual([job]);
  const taken = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<undefined>();
  const listener = jobQueue.consume(() => {
    taken.resolve(undefined);
    return answer.promise;
  }, 1);
  await taken.promise;
  const next = { ...job, number: "next" };
  await jobQueue.add([next]);
  expect(await jobQueue.stillWaiting([job, next])).toEqual([next]);
  answer.resolve(undefined);
  await listener.stop();
});
