import type { TiedProcess } from "@drover/local-servers";
import { afterAll, expect, it } from "vitest";
import { openGate, type S3Call } from "../stage/s3-gate.ts";
import { bucket, worldOfFile } from "../stage/world.ts";

/** Where a worker dies in the life of one bucket: at its n-th call to S3, before or after S3 has done it. */
interface Death {
  readonly at: number;
  readonly when: "before" | "after";
}

/** Workers that take one key at a time, so that a death is the death of one run. */
const workerCount = 3;
const spec = { versioning: "Enabled", tags: { team: "a" }, pollInterval: "1h" };

const world = await worldOfFile();
/** What S3 was asked, per bucket. */
const calls = new Map<string, string[]>();
/** What S3 did, per bucket: the changes that succeeded. */
const changes = new Map<string, string[]>();
const deaths = new Map<string, Death>();
const restarts: Promise<TiedProcess>[] = [];

await world.startBridge();
await Promise.all(Array.from({ length: workerCount }, startWorker));
afterAll(() => Promise.allSettled(restarts));

/** A worker with a gate of its own, so that a test knows which worker makes a call, and can kill it during the call. */
async function startWorker(): Promise<TiedProcess> {
  const started = Promise.withResolvers<TiedProcess>();
  const at = new Map<S3Call, number>();
  const dieOr = async (call: S3Call, when: Death["when"]): Promise<"cut" | undefined> => {
    const death = deaths.get(call.bucket);
    if (death?.at !== at.get(call) || death?.when !== when) return undefined;
    deaths.delete(call.bucket);
    (await started.promise).kill("SIGKILL");
    restarts.push(startWorker());
    return "cut";
  };
  const gate = await openGate(world.s3.url, {
    before(call) {
      at.set(call, note(calls, call));
      return dieOr(call, "before");
    },
    after(call, status) {
      if (status < 300 && !/^(GET|HEAD)/.test(call.operation)) note(changes, call);
      return dieOr(call, "after");
    },
  });
  world.atEnd(() => gate.close());
  started.resolve(await world.startWorker({ s3Url: gate.url, concurrency: 1 }));
  return started.promise;
}

/** Write a call down; answers how many there were before it for its bucket. */
function note(log: Map<string, string[]>, { bucket: name, operation }: S3Call): number {
  const operations = log.get(name) ?? [];
  log.set(name, operations);
  return operations.push(operation) - 1;
}

/** Creates a bucket, waits until it is Ready, deletes it and waits until it is gone. Returns its state in S3 when it was Ready. */
async function live(name: string) {
  const manifest = bucket(name, spec);
  const object = await world.applyReady(manifest);
  const made = await world.truth.bucket(name);
  await world.removed(manifest);
  return { ...made, mine: made?.tags["drover.dev/owner-uid"] === object?.metadata.uid };
}

/** As many lives side by side as workers can bring on, and one or two that wait. */
async function inLanes<T>(
  names: readonly string[],
  live: (name: string) => Promise<T>,
): Promise<readonly T[]> {
  const ends: T[] = [];
  const next = names.entries();
  const lane = async (): Promise<void> => {
    for (const [i, name] of next) ends[i] = await live(name);
  };
  await Promise.all(Array.from({ length: workerCount + 2 }, lane));
  return ends;
}

const count = (log: readonly string[] | undefined, operation: string): number =>
  (log ?? []).filter((each) => each === operation).length;

it("a worker killed before or after any S3 call changes nothing in how a bucket ends", async () => {
  const calm = await live("calm");
  const script = calls.get("calm") ?? [];
  expect(script).toContain("PUT");
  expect(script).toContain("DELETE");
  expect(calm).toMatchObject({ versioning: "Enabled", mine: true });

  const plans = script.flatMap((_, at) => (["before", "after"] as const).map((when) => ({ at, when })));
  const names = plans.map(({ at, when }) => `killed-${when}-${at}`);
  for (const [i, name] of names.entries()) deaths.set(name, plans[i]!);
  const ends = await inLanes(names, live);

  expect(restarts).toHaveLength(plans.length);
  expect(await world.truth.names()).toEqual([]);
  for (const [i, name] of names.entries()) {
    const story = `${name} (${script[plans[i]!.at]}): ${calls.get(name)?.join(", ")}`;
    expect(ends[i]?.mine, story).toBe(true);
    expect(ends[i]?.versioning, story).toBe("Enabled");
    expect(ends[i]?.tags?.["team"], story).toBe("a");
    expect(count(changes.get(name), "PUT"), story).toBe(1);
    expect(count(changes.get(name), "DELETE"), story).toBe(1);
  }
}, 600_000);
