import { objectKey, type ObjectKey } from "@drover/controller";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ClaimJob } from "./job-queue.ts";
import { openMemoryJobQueue } from "./memory-job-queue.fixture.ts";

const job = (name: string, number = "1"): ClaimJob => ({ key: objectKey({ name }), number });
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await turn();
};

it("brings jobs in the order in which they were added, no more at once than a listener takes", async () => {
  const jobQueue = openMemoryJobQueue();
  const begun: ObjectKey[] = [];
  const ends: (() => void)[] = [];
  jobQueue.consume((key) => {
    begun.push(key);
    return new Promise((resolve) => void ends.push(resolve));
  }, 2);
  await jobQueue.add(["c", "a", "b"].map((name) => job(name)));
  await turns(3);
  expect(begun).toEqual(["c", "a"]);
  expect(await jobQueue.stillWaiting([job("a"), job("b"), job("b", "2")])).toEqual([job("b")]);
  ends[1]?.();
  await turns(3);
  expect(begun).toEqual(["c", "a", "b"]);
});

it("brings each job to one listener, and to all of them in turn", async () => {
  const jobQueue = openMemoryJobQueue();
  const took: string[] = [];
  for (const name of ["first", "second"]) {
    jobQueue.consume(() => {
      took.push(name);
      return Promise.resolve();
    }, 2);
  }
  await jobQueue.add(["a", "b", "c", "d"].map((name) => job(name)));
  await turns(3);
  expect(took).toEqual(["first", "second", "first", "second"]);
});

it("brings a job that was added twice once, and waits for listeners as long as there are none", async () => {
  const jobQueue = openMemoryJobQueue();
  await jobQueue.add([job("a"), job("a")]);
  await jobQueue.add([job("a")]);
  const begun: ObjectKey[] = [];
  jobQueue.consume((key) => Promise.resolve(void begun.push(key)), 5);
  await turns(3);
  expect(begun).toEqual(["a"]);
});

it("goes on after an answer that throws", async () => {
  const jobQueue = openMemoryJobQueue();
  const begun: ObjectKey[] = [];
  jobQueue.consume((key) => {
    begun.push(key);
    return Promise.reject(new Error("no"));
  }, 1);
  await jobQueue.add([job("a"), job("b")]);
  await turns(5);
  expect(begun).toEqual(["a", "b"]);
});

it("stops when what was taken has been answered, and keeps the rest for others", async () => {
  const jobQueue = openMemoryJobQueue();
  const end = Promise.withResolvers<undefined>();
  const listener = jobQueue.consume(() => end.promise, 1);
  await jobQueue.add([job("a"), job("b")]);
  let stopped = false;
  const stopping = listener.stop().then(() => (stopped = true));
  await turns(3);
  expect(stopped).toBe(false);
  end.resolve(undefined);
  await stopping;
  expect(await jobQueue.stillWaiting([job("a"), job("b")])).toEqual([job("b")]);
});

it("lets timers be heard, though answers never wait and always add a job", async () => {
  const jobQueue = openMemoryJobQueue();
  const heard = Promise.withResolvers<undefined>();
  let over = false;
  jobQueue.consume(async (key) => {
    if (!over) await jobQueue.add([{ key, number: "again" }]);
  }, 1);
  await jobQueue.add([job("a")]);
  setTimeout(() => heard.resolve(undefined), 1);
  await heard.promise;
  over = true;
});
