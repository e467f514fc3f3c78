import type { Log, ObjectMetadata } from "@drover/controller";
import { objectKey } from "@drover/controller";
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

beforeEach(async () => {
  api = await sandboxClient();
  clock = new VirtualTimers();
  warnings = [];
  requests = [];
  api.sandbox.faults.respond(({ method }) => {
    if (method !== "GET") requests.push(method);
    return undefined;
  });
  const quiet = (): void => undefined;
  const log: Log = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (_fields, message) => void warnings.push(message),
  };
  const start = Date.parse("2026-11-01T12:00:00Z");
  recorder = eventRecorder({
    client: api.client,
    log,
    timers: clock,
    date: () => new Date(start + clock.now()),
    controller: "drover.dev/buckets",
    instance: "worker-1",
  });
});
afterEach(async () => {
  await recorder.close();
  await api[Symbol.asyncDispose]();
});

// vitest types its matchers as any.
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
const stored = async () => (await api.client.list(builtin.event)).items;

describe("an event", () => {
  test("is written beside its object", async () => {
    recorder.record(created());
    await recorder.flush();
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

  test("of a cluster-scoped object lives in default", async () => {
    const team: ObjectMetadata = { name: "team", uid: "uid-team", resourceVersion: "7" };
    recorder.record(created("team", { regarding: { ref: builtin.namespace, metadata: team } }));
    await recorder.flush();
    expect(await stored()).toMatchObject([{ metadata: { namespace: "default" } }]);
  });

  test("of an object whose name no Event can have gets another name", async () => {
    recorder.record(created("system:node"));
    await recorder.flush();
    expect(await stored()).toMatchObject([{ metadata: { name: matching(/^event\./) } }]);
  });

  test.each([
    ["photos-2026.web", /^photos-2026\.web\.[0-9a-f]{16}$/],
    [`${"a".repeat(199)}-b`, /^a{199}\.[0-9a-f]{16}$/],
    ["a--b.c", /^a--b\.c\.[0-9a-f]{16}$/],
    ["photos-", /^event\./],
    ["Photos", /^event\./],
    ["a..b", /^event\./],
  ])("is named for its object where an Event may have such a name: %s", async (name, expected) => {
    recorder.record(created(name));
    await recorder.flush();
    expect(await stored()).toMatchObject([{ metadata: { name: matching(expected) } }]);
  });

  test("has a note of 1 kB at most", async () => {
    recorder.record(created("a", { note: "é".repeat(2_000) }));
    await recorder.flush();
    const [event] = await stored();
    const note = typeof event?.["note"] === "string" ? event["note"] : "";
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
    expect(note).toMatch(/^é+…$/);
  });
});

describe("an event that is recorded again", () => {
  test("is counted on the one that is there", async () => {
    recorder.record(created());
    await recorder.flush();
    for (let time = 0; time < 4; time++) recorder.record(created());
    clock.advance(1_000);
    await recorder.flush();
    expect(await stored()).toMatchObject([
      { series: { count: 5, lastObservedTime: "2026-11-01T12:00:00.000000Z" } },
    ]);
    expect(requests).toEqual(["POST", "PATCH"]);
  });

  test("has its count written by itself, every second at most", async () => {
    recorder.record(created());
    await recorder.flush();
    recorder.record(created());
    expect(await clock.waitFor("events")).toBe(1_000);
    expect(requests).toEqual(["POST"]);
    clock.advance(1_000);
    await recorder.flush();
    expect(requests).toEqual(["POST", "PATCH"]);
  });

  test("after ten minutes is another one", async () => {
    recorder.record(created());
    await recorder.flush();
    clock.advance(10 * 60_000 + 1);
    recorder.record(created());
    await recorder.flush();
    expect(await stored()).toHaveLength(2);
  });

  test("is created again when Kubernetes has deleted it", async () => {
    recorder.record(created());
    await recorder.flush();
    const [first] = await stored();
    await api.client.delete(
      builtin.event,
      objectKey({ namespace: "default", name: first?.metadata.name ?? "" }),
    );
    recorder.record(created());
    await recorder.flush();
    expect(await stored()).toMatchObject([{ series: { count: 2 } }]);
  });

  test.each<[string, Partial<RecordedEvent>]>([
    ["type", { type: "Warning" }],
    ["reason", { reason: "Changed" }],
    ["action", { action: "ChangeBucket" }],
    ["note", { note: "Otherwise." }],
    ["object", { regarding: { ref: bucketRef, metadata: metadata("a", { uid: "another" }) } }],
  ])("is another one with another %s", async (_name, more) => {
    recorder.record(created());
    recorder.record(created("a", more));
    await recorder.flush();
    expect(await stored()).toHaveLength(2);
  });
});

test("an object with too many events is limited by the spam filter, its neighbours are not", async () => {
  for (let time = 0; time < 100; time++) recorder.record(created("loud", { note: `note ${time}` }));
  recorder.record(created("quiet"));
  await recorder.flush();
  expect(await stored()).toHaveLength(burst + 1);
  clock.advance(refillEvery);
  await recorder.flush();
  expect(await stored(), "what there was no room for is not written late").toHaveLength(burst + 1);
  recorder.record(created("loud", { note: "later" }));
  recorder.record(created("loud", { note: "later still" }));
  await recorder.flush();
  expect(await stored()).toHaveLength(burst + 2);
});

describe("where events cannot be written", () => {
  test("nobody is disturbed, and it is said once", async () => {
    api.sandbox.faults.respond(() => ({ status: 403 }));
    for (const name of ["a", "b", "c"]) recorder.record(created(name));
    await recorder.flush();
    expect(warnings).toHaveLength(1);
    expect(requests).toHaveLength(3);
  });

  test("what passes is tried again, and not before the server allows", async () => {
    const heal = api.sandbox.faults.respond(() => ({ status: 429, retryAfterSeconds: 60 }));
    recorder.record(created("a"));
    recorder.record(created("b"));
    await recorder.flush();
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

test("a closed recorder has written its events, and takes no more", async () => {
  recorder.record(created());
  await recorder.close();
  recorder.record(created("b"));
  await recorder.flush();
  expect(await stored()).toHaveLength(1);
});

test("a note is scrubbed before it is cut: no half of a secret is left that nobody would recognise", async () => {
  recorder.record(created("a", { note: `${"x".repeat(990)} http://user:${"canary".repeat(10)}@host/` }));
  await recorder.flush();
  expect(JSON.stringify(await stored())).not.toContain("canary");
});
