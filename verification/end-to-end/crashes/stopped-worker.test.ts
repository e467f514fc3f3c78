import { afterEach, expect, it } from "vitest";
import { openGate } from "../stage/s3-gate.ts";
import { bucket, isReady, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile();
let creations: string[] = [];
/** Holds the creation of a bucket until it is opened. */
let door: PromiseWithResolvers<undefined>;
let knocked: PromiseWithResolvers<string>;

await world.startBridge();
const gate = await openGate(world.s3.url, {
  async before(call) {
    if (call.operation !== "PUT") return undefined;
    knocked.resolve(call.bucket);
    await door.promise;
    creations.push(call.bucket);
    return undefined;
  },
  after: () => Promise.resolve(undefined),
});
world.atEnd(() => gate.close());
afterEach(() => (creations = []));
const shut = (): void => {
  door = Promise.withResolvers();
  knocked = Promise.withResolvers();
};

it("a worker that is stopped finishes its run, claims no new key, and exits with 0", async () => {
  shut();
  const worker = await world.startWorker({ s3Url: gate.url });
  await world.cluster.apply(bucket("under-way"));
  expect(await knocked.promise).toBe("under-way");
  const stopped = worker.stop({ graceMs: 60_000 });
  await world.cluster.apply(bucket("too-late"));
  door.resolve(undefined);
  expect(await stopped).toMatchObject({ code: 0 });
  expect(await world.truth.names()).toEqual(["under-way"]);
  expect(creations).toEqual(["under-way"]);

  await world.startWorker();
  await world.until(bucket("too-late"), isReady);
  await world.until(bucket("under-way"), isReady);
});

it("a run that outlasts the grace period is abandoned, and another worker gets its key at once", async () => {
  shut();
  const worker = await world.startWorker({ s3Url: gate.url, env: { DROVER_STOP_GRACE: "50ms" } });
  // Whichever worker claims it first: the one behind the gate is the only one that can be held.
  const names = Array.from({ length: 12 }, (_, i) => `many-${i}`);
  await Promise.all(names.map((name) => world.cluster.apply(bucket(name))));
  await knocked.promise;
  expect(await worker.stop({ graceMs: 60_000 })).toMatchObject({ code: 0 });
  door.resolve(undefined);
  await Promise.all(names.map((name) => world.until(bucket(name), isReady)));
  expect((await world.truth.names()).filter((name) => name.startsWith("many"))).toHaveLength(12);
});

it("every process ends when it is stopped, also while Redis is down, and reports the failure", async () => {
  shut();
  door.resolve(undefined);
  const env = { DROVER_STOP_GRACE: "50ms" };
  const processes = await Promise.all([
    world.startWorker({ env }),
    world.startBridge({ env, awaited: "Serving" }),
  ]);
  await world.redis.kill();
  const exits = await Promise.all(processes.map((each) => each.stop({ graceMs: 100_000 })));
  for (const { signal } of exits) expect(signal).toBeNull(); // left by itself, was not killed
  await world.redis.restart();
  await world.startWorker();
  await world.applyReady(bucket("afterwards"));
});
