import { objectKey, splitObjectKey, silentLog } from "@drover/controller";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installCrd } from "../client/install-crd.ts";
import { eventLog, type EventLog } from "../testing/event-log.ts";
import { keyOf } from "../objects/kube-object.ts";
import { bucketRef } from "../testing/objects.ts";
import { bucketDefinition, sandboxClient, type SandboxClient } from "../testing/sandbox-client.ts";
import { VirtualTimers } from "@drover/timers";
import { isObjectEvent, type ObjectEvent } from "./change-events.ts";
import { type Reflector, type ReflectorOptions, runReflector } from "./run-reflector.ts";

let api: SandboxClient;
let clock: VirtualTimers;
let log: EventLog;
let events: ObjectEvent[];
let stopping: AbortController;
let running: Reflector | undefined;

beforeEach(async () => {
  api = await sandboxClient();
  clock = new VirtualTimers();
  log = eventLog();
  events = [];
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await running?.done;
});

function follow(options: Partial<ReflectorOptions> = {}): Reflector {
  const { client } = api;
  const onEvents: ReflectorOptions["onEvents"] = (some) => {
    events.push(...some.filter(isObjectEvent));
    log.onEvents(some);
  };
  const base = { client, ref: bucketRef, signal: stopping.signal, onEvents, log: silentLog, timers: clock };
  return (running = runReflector({ ...base, ...options }));
}

const key = (name: string) => objectKey({ namespace: "default", name });
const create = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  api.client.create(bucketRef, { metadata: { name, namespace: "default", labels }, spec: { region: "eu" } });
const patch = (name: string, body: object) => api.client.patch(bucketRef, key(name), { type: "merge", body });
const labelled = (on: "yes" | null) => patch("a", { metadata: { labels: { on } } });
/** Watches are answered with this status. @returns ends it. */
const watchesGet = (status: number) =>
  api.sandbox.faults.respond(({ query }) => (query.get("watch") === null ? undefined : { status }));
const sitOut = async (): Promise<void> => clock.advance(await clock.waitFor("reflector"));
const nameOf = (event: ObjectEvent): string => splitObjectKey(event.key).name;
const lineOf = (event: ObjectEvent): string => `${event.type} ${nameOf(event)}`;
const view = (event: ObjectEvent | undefined) => event?.matched["self"]?.view;
/** The events before that of a new marker object: no earlier event is missing then. */
const settled = async (): Promise<readonly string[]> => {
  const marker = await create("marker");
  await log.emitted(`added marker@${marker.metadata.resourceVersion}`);
  return events.slice(0, -1).map(lineOf);
};

describe("a kind that is served", () => {
  beforeEach(() => installCrd(api.client, bucketDefinition));

  test("has each change emitted, after its first list", async () => {
    await create("a");
    follow({
      map: (object) => ({ self: { keys: [keyOf(object)], view: `${object.metadata.generation}` } }),
    });
    await log.count(2);
    await create("b");
    await patch("b", { spec: { region: "us" } });
    const status = { status: { arn: "arn" } };
    await api.client.patch(bucketRef, key("b"), { type: "merge", body: status }, { subresource: "status" });
    await api.client.delete(bucketRef, key("a"));
    expect(await settled()).toEqual(["listed a", "added b", "modified b", "modified b", "deleted a"]);
    const [, added, specChanged, statusChanged] = events;
    expect(view(specChanged)).not.toBe(view(added));
    expect(view(statusChanged)).toBe(view(specChanged));
    expect(statusChanged?.previous?.resourceVersion).toBe(specChanged?.resourceVersion);
  });

  test.each([
    ["as a stream", true],
    ["in pages", false],
  ])("is listed %s: 1,201 objects, each once", async (_how, streamsLists) => {
    const names = Array.from({ length: 1_201 }, (_, index) => `b${index}`);
    while (names.length > 0) await Promise.all(names.splice(0, 50).map((name) => create(name)));
    follow({ streamsLists });
    await log.count(1_202);
    expect(new Set(events.map(({ key: one }) => one)).size).toBe(1_201);
  });

  test("is compared after a gap: lost, changed, new and recreated objects are emitted", async () => {
    for (const name of ["kept", "lost", "changed", "again"]) await create(name);
    const first = await api.client.get(bucketRef, key("again"));
    const reflector = follow();
    await log.count(5);

    const heal = watchesGet(503);
    api.sandbox.faults.dropWatches();
    await clock.waitFor("reflector");
    await api.client.delete(bucketRef, key("lost"));
    await api.client.delete(bucketRef, key("again"));
    const second = await create("again");
    await patch("changed", { spec: { region: "us" } });
    await create("new");
    api.sandbox.faults.compact();
    heal();
    events.length = 0;
    await sitOut();
    await sitOut();
    await log.lists(2);
    const gap = await settled();
    const expected = ["added again", "added new", "deleted again", "deleted lost", "modified changed"];
    expect([...gap].sort()).toEqual(expected);
    expect(gap.indexOf("deleted again")).toBe(gap.indexOf("added again") - 1);
    const [ended, begun] = events.filter((event) => nameOf(event) === "again");
    expect([ended?.uid, begun?.uid]).toEqual([first?.metadata.uid, second.metadata.uid]);
    expect(begun?.previous?.uid).toBe(first?.metadata.uid);
    expect(reflector.status().relists).toBe(1);
  });

  test("may be followed in part: objects that enter and leave the selection are added and deleted", async () => {
    follow({ labelSelector: "on=yes", namespace: "default" });
    await log.count(1);
    await create("a");
    await labelled("yes");
    await labelled(null);
    await log.count(3);
    expect(events.map(lineOf)).toEqual(["added a", "deleted a"]);
  });
});

test("a kind that is not served yet is followed once it is", async () => {
  const reflector = follow();
  await clock.waitFor("reflector");
  expect(reflector.status().degraded).toMatchObject({ reason: "NotServed" });
  await installCrd(api.client, bucketDefinition);
  await sitOut();
  await log.lists(1);
  expect(await settled()).toEqual([]);
  expect(reflector.status()).toMatchObject({ synced: true, degraded: undefined });
});
