import { type ObjectMetadata, silentLog, objectKey, splitObjectKey } from "@drover/controller";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { KubeClient } from "./client.ts";
import { connect } from "./connect.ts";
import { eventRecorder } from "../events/event-recorder.ts";
import { installCrd } from "./install-crd.ts";
import { isObjectEvent, type ObjectEvent } from "../reflector/change-events.ts";
import { type Reflector, runReflector } from "../reflector/run-reflector.ts";
import { builtin } from "../objects/resource-ref.ts";
import { type EventLog, eventLog } from "../testing/event-log.ts";
import { bucketRef } from "../testing/objects.ts";
import { bucketDefinition } from "../testing/sandbox-client.ts";

let cluster: RealCluster;
let client: KubeClient;

beforeAll(async () => {
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig });
  expect(await installCrd(client, bucketDefinition)).toEqual(bucketRef);
}, 900_000);
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const key = (name: string) => objectKey({ namespace: "default", name });
const create = (name: string) =>
  client.create(bucketRef, { metadata: { name, namespace: "default" }, spec: { region: "eu" } });

describe("the client, against a real API server", () => {
  test("an object's life", async () => {
    expect(await client.get(bucketRef, key("life"))).toBeUndefined();
    const { metadata } = await create("life");
    const body = { status: { arn: "arn" } };
    await client.patch(bucketRef, key("life"), { type: "merge", body }, { subresource: "status" });
    const stale = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { region: "us" } };
    await expect(client.patch(bucketRef, key("life"), { type: "merge", body: stale })).rejects.toMatchObject({
      kind: "Conflict",
    });
    await expect(client.delete(bucketRef, key("life"), { uid: "another" })).rejects.toMatchObject({
      kind: "Conflict",
    });
    expect(await client.delete(bucketRef, key("life"), { uid: metadata.uid })).toBe(true);
    expect(await client.delete(bucketRef, key("life"))).toBe(false);
  });

  test("refusals of the same kinds as the sandbox's", async () => {
    const unknown = { ...bucketRef, plural: "baskets", kind: "Basket" };
    await expect(client.get(unknown, key("a"))).rejects.toMatchObject({ kind: "NotServed" });
    await expect(client.list({ ...bucketRef, group: "nobody.example.com" })).rejects.toMatchObject({
      kind: "NotServed",
    });
    const nowhere = client.create(builtin.secret, { metadata: { name: "s", namespace: "nowhere" } });
    await expect(nowhere).rejects.toMatchObject({ kind: "NotFound" });
    const wrong = client.create(bucketRef, {
      metadata: { name: "a", namespace: "default" },
      spec: { region: 1 },
    });
    await expect(wrong).rejects.toMatchObject({ kind: "Invalid" });
  });

  test("pages of metadata", async () => {
    for (const name of ["p1", "p2", "p3"]) await create(name);
    const first = await client.list(bucketRef, { limit: 2, metadataOnly: true });
    expect(first.items[0]).not.toHaveProperty("spec");
    const second = await client.list(bucketRef, { limit: 2, metadataOnly: true, continue: first.continue });
    expect(second.resourceVersion).toBe(first.resourceVersion);
    for (const name of ["p1", "p2", "p3"]) await client.delete(bucketRef, key(name));
  });
});

describe("the reflector, against a real API server", () => {
  let reflector: Reflector | undefined;
  let stopping: AbortController;
  afterEach(async () => {
    stopping.abort();
    await reflector?.done;
  });

  test("follows a kind over the death of the API server", { timeout: 120_000 }, async () => {
    stopping = new AbortController();
    const told = eventLog();
    const events: ObjectEvent[] = [];
    for (const name of ["kept", "again"]) await create(name);
    reflector = runReflector({
      client,
      ref: bucketRef,
      signal: stopping.signal,
      log: silentLog,
      onEvents: (some) => {
        events.push(...some.filter(isObjectEvent));
        told.onEvents(some);
      },
    });
    await told.lists(1);
    const before = await create("before");
    await told.emitted(`added before@${before.metadata.resourceVersion}`);
    await client.delete(bucketRef, key("before"));
    // What is not told before the death may be told after it, with whatever else has happened, by name.
    await expect.poll(() => events.at(-1)?.type, { timeout: 60_000 }).toBe("deleted");

    await cluster.stopApiServer();
    await cluster.startApiServer();
    await client.delete(bucketRef, key("again"));
    const again = await create("again");
    const after = await create("after");
    await told.emitted(`added again@${again.metadata.resourceVersion}`);
    await told.emitted(`added after@${after.metadata.resourceVersion}`);
    const nameOf = ({ key }: ObjectEvent): string => splitObjectKey(key).name;
    const lines = events.map((event) => `${event.type} ${nameOf(event)}`);
    expect(lines.slice(0, 4)).toEqual(["listed again", "listed kept", "added before", "deleted before"]);
    // A relist tells them by name, a resumed watch as they happened.
    expect(lines.slice(4).sort()).toEqual(["added after", "added again", "deleted again"]);
    const [, deleted, added] = events.filter((event) => nameOf(event) === "again");
    expect(added?.uid).not.toBe(deleted?.uid);
    expect(reflector.status().reconnects).toBeGreaterThan(0);
  });

  test("streams its list, and gets changes on the same connection", async () => {
    stopping = new AbortController();
    await create("streamed");
    const told = eventLog();
    const asked: string[] = [];
    const counting = {
      list: (...given: Parameters<KubeClient["list"]>) => {
        asked.push("list");
        return client.list(...given);
      },
      watch: (...given: Parameters<KubeClient["watch"]>) => {
        asked.push("watch");
        return client.watch(...given);
      },
    };
    const options = {
      ref: bucketRef,
      signal: stopping.signal,
      log: silentLog,
      onEvents: (some: Parameters<EventLog["onEvents"]>[0]) => told.onEvents(some),
    };
    reflector = runReflector({ ...options, client: counting });
    await told.lists(1);
    expect(told.lines.some((line) => line.startsWith("listed streamed@"))).toBe(true);
    const later = await create("later");
    await told.emitted(`added later@${later.metadata.resourceVersion}`);
    expect(asked).toEqual(["watch"]);
  });

  test("gets a bookmark before a short watch ends", { timeout: 30_000 }, async () => {
    stopping = new AbortController();
    const { resourceVersion } = await client.list(bucketRef);
    const types: string[] = [];
    const opened = Promise.withResolvers<undefined>();
    const options = { resourceVersion, timeoutSeconds: 5, metadataOnly: true };
    // A bookmark comes only when the kind has changed since the watch began.
    const changed = opened.promise.then(() => create("seen"));
    const onActivity = (): void => opened.resolve(undefined);
    for await (const frames of client.watch(bucketRef, { ...options, onActivity })) {
      types.push(...frames.map(({ type }) => type));
    }
    await changed;
    expect(types.slice(0, 2)).toEqual(["ADDED", "BOOKMARK"]);
  });
});

test("events are taken, counted, and taken for objects of the cluster too", async () => {
  const recorder = eventRecorder({
    client,
    log: silentLog,
    controller: "drover.dev/buckets",
    instance: "worker-1",
  });
  const object: ObjectMetadata = { name: "a", namespace: "default", uid: "uid-a", resourceVersion: "1" };
  const said = { type: "Warning", reason: "Failed", action: "CreateBucket", note: "No." } as const;
  recorder.record({ ...said, regarding: { ref: bucketRef, metadata: object } });
  await recorder.flush();
  recorder.record({ ...said, regarding: { ref: bucketRef, metadata: object } });
  const team: ObjectMetadata = { name: "team", uid: "uid-team", resourceVersion: "1" };
  recorder.record({ ...said, regarding: { ref: builtin.namespace, metadata: team } });
  await recorder.close();
  const { items } = await client.list(builtin.event, { namespace: "default" });
  const ours = items.filter((item) => item["reportingController"] === "drover.dev/buckets");
  expect(ours).toHaveLength(2);
  expect(ours.find(({ metadata }) => metadata.name.startsWith("a."))).toMatchObject({ series: { count: 2 } });
});
