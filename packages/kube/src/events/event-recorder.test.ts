import type { Log, ObjectMetadata } from "@drover/controller";
import { objectKey, silentLog } from "@drover/controller";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtin } from "../objects/resource-ref.ts";
import { bucketRef } from "../testing/objects.ts";
import { sandboxClient, type SandboxClient } from "../testing/sandbox-client.ts";
import { VirtualTimers } from "@drover/timers";
import { type EventRecorder, eventRecorder } from "./event-recorder.ts";
import { burst, refillEvery } from "./spam-filter.ts";
import type { RecordedEvent } from "./recorded-event.ts";

let api: SandboxClient;
let clock: VirtualTimers;
let recorder: EventRecorder;
let warnings: string[];
let requests: string[];
let isBusy: boolean;

beforeEach(async () => {
  api = await sandboxClient();
  clock = new VirtualTimers();
  warnings = [];
  requests = [];
  isBusy = false;
  api.sandbox.faults.respond(({ method }) => {
    if (method !== "GET") requests.push(method);
    return undefined;
  });
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  const start = Date.parse("2026-11-01T12:00:00Z");
  recorder = eventRecorder({
    client: api.client,
    log,
    isBusy: () => isBusy,
    timers: clock,
    date: () => new Date(start + clock.now()),
    controller: "drover.dev/buckets",
    instance: "worker-1",
  });
});
afterEach(() => recorder.close());

// The type of vitest's matchers is any.
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

const metadata = (name: string, more: Partial<ObjectMetadata> = {}): ObjectMetadata => ({
  name,
  namespace: "default",
  uid: `uid-${name}`,
  resourceVersion: "7",
  ...more,
});
const created = (name = "a", more: Partial<RecordedEvent> = {}): RecordedEvent => ({
  regarding: { ref: bucketRef, metadata: metadata(name) },
  type: "Normal",
  reason: "Created",
  action: "CreateBucket",
  note: "The bucket is there.",
  ...more,
});
/** Records events, and writes them. */
const write = (...events: readonly RecordedEvent[]): Promise<void> => {
  for (const event of events) recorder.record(event);
  return recorder.flush();
};
const stored = async () => (await api.client.list(builtin.event)).items;

describe("while its process is busy, an event", () => {
  const recordBusy = async (): Promise<void> => {
    isBusy = true;
    recorder.record(created());
    await clock.waitFor("events");
    expect(requests).toEqual([]);
  };
  test("waits until that ends", async () => {
    await recordBusy();
    isBusy = false;
    recorder.idle();
    await recorder.flush();
    expect(requests).toEqual(["POST"]);
    expect(await stored()).toMatchObject([{ eventTime: "2026-11-01T12:00:00.000000Z" }]);
  });
  test("waits for thirty seconds at most", async () => {
    await recordBusy();
    expect(await clock.waitFor("events")).toBe(30_000);
    clock.advance(29_999);
    await Promise.resolve();
    expect(requests).toEqual([]);
    clock.advance(1);
    await recorder.flush();
    expect(requests).toEqual(["POST"]);
  });
  test("does not wait if more than a thousand wait, so that none is forgotten unwritten", async () => {
    await recordBusy();
    for (let i = 0; i < 1_600; i += 1) recorder.record(created(`b${i}`));
    await expect.poll(() => requests.length).toBe(1_601 - 1_024);
    isBusy = false;
    recorder.idle();
    await recorder.flush();
    expect(requests).toHaveLength(1_601);
  });
  test("does not wait when the process ends", async () => {
    await recordBusy();
    await recorder.close();
    expect(requests).toEqual(["POST"]);
  });
});

describe("an event", () => {
  test("is written in the namespace of its object", async () => {
    await write(created());
    expect(await stored()).toMatchObject([
      {
        metadata: { namespace: "default", name: matching(/^a\.[0-9a-f]{16}$/) },
        eventTime: "2026-11-01T12:00:00.000000Z",
        type: "Normal",
        reason: "Created",
        action: "CreateBucket",
        note: "The bucket is there.",
        reportingController: "drover.dev/buckets",
        reportingInstance: "worker-1",
        regarding: {
          apiVersion: "s3.example.com/v1",
          kind: "Bucket",
          namespace: "default",
          name: "a",
          uid: "uid-a",
        },
      },
    ]);
  });

  test("of a cluster-scoped object is in the namespace default", async () => {
    const team: ObjectMetadata = { name: "team", uid: "uid-team", resourceVersion: "7" };
    await write(created("team", { regarding: { ref: builtin.namespace, metadata: team } }));
    expect(await stored()).toMatchObject([{ metadata: { namespace: "default" } }]);
  });

  test.each([
    ["photos-2026.web", /^photos-2026\.web\.[0-9a-f]{16}$/],
    [`${"a".repeat(199)}-b`, /^a{199}\.[0-9a-f]{16}$/],
    ["a--b.c", /^a--b\.c\.[0-9a-f]{16}$/],
    ["photos-", /^event\./],
    ["Photos", /^event\./],
    ["a..b", /^event\./],
    ["system:node", /^event\./],
  ])("has the name of its object as a prefix, if that is valid: %s", async (name, expected) => {
    await write(created(name));
    expect(await stored()).toMatchObject([{ metadata: { name: matching(expected) } }]);
  });

  test("has a note of at most 1 kB", async () => {
    await write(created("a", { note: "é".repeat(2_000) }));
    const [event] = await stored();
    const note = typeof event?.["note"] === "string" ? event["note"] : "";
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
    expect(note).toMatch(/^é+…$/);
  });
});

describe("an event that is recorded again", () => {
  test("is counted in the existing Event", async () => {
    await write(created());
    for (let time = 0; time < 4; time++) recorder.record(created());
    clock.advance(1_000);
    await recorder.flush();
    expect(await stored()).toMatchObject([
      { series: { count: 5, lastObservedTime: "2026-11-01T12:00:00.000000Z" } },
    ]);
    expect(requests).toEqual(["POST", "PATCH"]);
  });

  test("has its count written later, at most every second", async () => {
    await write(created());
    recorder.record(created());
    expect(await clock.waitFor("events")).toBe(1_000);
    expect(requests).toEqual(["POST"]);
    clock.advance(1_000);
    await recorder.flush();
    expect(requests).toEqual(["POST", "PATCH"]);
  });

  test("is another one after ten minutes", async () => {
    await write(created());
    clock.advance(10 * 60_000 + 1);
    await write(created());
    expect(await stored()).toHaveLength(2);
  });

  test("is created again if Kubernetes has deleted it", async () => {
    await write(created());
    const [first] = await stored();
    await api.client.delete(
      builtin.event,
      objectKey({ namespace: "default", name: first?.metadata.name ?? "" }),
    );
    await write(created());
    expect(await stored()).toMatchObject([{ series: { count: 2 } }]);
  });

  test.each<[string, Partial<RecordedEvent>]>([
    ["type", { type: "Warning" }],
    ["reason", { reason: "Changed" }],
    ["action", { action: "ChangeBucket" }],
    ["note", { note: "Otherwise." }],
    ["object", { regarding: { ref: bucketRef, metadata: metadata("a", { uid: "another" }) } }],
  ])("is another one with another %s", async (_name, more) => {
    await write(created(), created("a", more));
    expect(await stored()).toHaveLength(2);
  });
});

test("an object with too many events is limited by the spam filter, and others are not", async () => {
  for (let time = 0; time < 100; time++)
    await write(created("loud", { note: `note ${time}` }), created("quiet"));
  expect(await stored()).toHaveLength(burst + 1);
  clock.advance(refillEvery);
  await recorder.flush();
  expect(await stored(), "dropped events are not written later").toHaveLength(burst + 1);
  await write(created("loud", { note: "later" }), created("loud", { note: "later still" }));
  expect(await stored()).toHaveLength(burst + 2);
});

describe("events that cannot be written", () => {
  test("cause one warning, and no error", async () => {
    api.sandbox.faults.respond(() => ({ status: 403 }));
    for (const name of ["a", "b", "c"]) await write(created(name));
    expect(warnings).toHaveLength(1);
    expect(requests).toHaveLength(3);
  });

  test("are retried after a transient failure, not before its Retry-After", async () => {
    const heal = api.sandbox.faults.respond(() => ({ status: 429, retryAfterSeconds: 60 }));
    await write(created("a"), created("b"));
    expect(requests).toHaveLength(1);
    heal();
    clock.advance(59_000);
    await recorder.flush();
    expect(requests).toHaveLength(1);
    clock.advance(1_000);
    await recorder.flush();
    expect(await stored()).toHaveLength(2);
    expect(warnings).toHaveLength(1);
  });
});

test("a closed recorder has written its events, and accepts no more", async () => {
  recorder.record(created());
  await recorder.close();
  await write(created("b"));
  expect(await stored()).toHaveLength(1);
});

test("a note is redacted before it is cut, so that no part of a secret is left", async () => {
  await write(created("a", { note: `${"x".repeat(990)} http://user:${"canary".repeat(10)}@host/` }));
  expect(JSON.stringify(await stored())).not.toContain("canary");
});
