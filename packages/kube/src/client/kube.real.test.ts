import { type ObjectMetadata, silentLog, objectKey, splitObjectKey } from "@drover/controller";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { KubeClient } from "./client.ts";
import { clientContract } from "./client.contract.ts";
import { connect } from "./connect.ts";
import { eventRecorder } from "../events/event-recorder.ts";
import { installCrd } from "./install-crd.ts";
import { isObjectEvent, type ObjectEvent } from "../reflector/change-events.ts";
import { type Reflector, runReflector } from "../reflector/run-reflector.ts";
import { builtin } from "../objects/resource-ref.ts";
import { eventLog } from "../testing/event-log.ts";
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

describe("the client, against a real API server", () => clientContract(() => client));

describe("the reflector, against a real API server", () => {
  let reflector: Reflector | undefined;
  let stopping: AbortController;
  afterEach(async () => {
    stopping.abort();
    await reflector?.done;
  });

  test("follows a kind across a crash of the API server", { timeout: 120_000 }, async () => {
    stopping = new AbortController();
    const emitted = eventLog();
    const events: ObjectEvent[] = [];
    for (const name of ["kept", "again"]) await create(name);
    reflector = runReflector({
      client,
      ref: bucketRef,
      signal: stopping.signal,
      log: silentLog,
      onEvents: (some) => {
        events.push(...some.filter(isObjectEvent));
        emitted.onEvents(some);
      },
    });
    await emitted.lists(1);
    const before = await create("before");
    await emitted.emitted(`added before@${before.metadata.resourceVersion}`);
    await client.delete(bucketRef, key("before"));
    // Events that are not emitted before the death may be emitted later, by name.
    await expect.poll(() => events.at(-1)?.type, { timeout: 60_000 }).toBe("deleted");

    await cluster.stopApiServer();
    await cluster.startApiServer();
    await client.delete(bucketRef, key("again"));
    const again = await create("again");
    const after = await create("after");
    await emitted.emitted(`added again@${again.metadata.resourceVersion}`);
    await emitted.emitted(`added after@${after.metadata.resourceVersion}`);
    const nameOf = ({ key }: ObjectEvent): string => splitObjectKey(key).name;
    const lines = events.map((event) => `${event.type} ${nameOf(event)}`);
    expect(lines.slice(0, 4)).toEqual(["listed again", "listed kept", "added before", "deleted before"]);
    // A relist emits them by name, a resumed watch in order.
    expect(lines.slice(4).sort()).toEqual(["added after", "added again", "deleted again"]);
    const [, deleted, added] = events.filter((event) => nameOf(event) === "again");
    expect(added?.uid).not.toBe(deleted?.uid);
    expect(reflector.status().reconnects).toBeGreaterThan(0);
  });

  test("streams its list, and receives changes on the same connection", async () => {
    stopping = new AbortController();
    await create("streamed");
    const emitted = eventLog();
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
    reflector = runReflector({
      client: counting,
      ref: bucketRef,
      signal: stopping.signal,
      log: silentLog,
      onEvents: (some) => emitted.onEvents(some),
    });
    await emitted.lists(1);
    expect(emitted.lines.some((line) => line.startsWith("listed streamed@"))).toBe(true);
    const later = await create("later");
    await emitted.emitted(`added later@${later.metadata.resourceVersion}`);
    expect(asked).toEqual(["watch"]);
  });

  test("gets a bookmark before a short watch ends", { timeout: 30_000 }, async () => {
    stopping = new AbortController();
    const { resourceVersion } = await client.list(bucketRef);
    const types: string[] = [];
    const opened = Promise.withResolvers<undefined>();
    const options = { resourceVersion, timeoutSeconds: 5, metadataOnly: true };
    // A bookmark is sent only if the kind has changed since the watch began.
    const changed = opened.promise.then(() => create("seen"));
    const onActivity = (): void => opened.resolve(undefined);
    for await (const frames of client.watch(bucketRef, { ...options, onActivity })) {
      types.push(...frames.map(({ type }) => type));
    }
    await changed;
    expect(types.slice(0, 2)).toEqual(["ADDED", "BOOKMARK"]);
  });
});

test("events are accepted and counted, also for cluster-scoped objects", async () => {
  const recorder = eventRecorder({
    client,
    log: silentLog,
    controller: "drover.dev/buckets",
    instance: "worker-1",
  });
  const object: ObjectMetadata = { name: "a", namespace: "default", uid: "uid-a", resourceVersion: "1" };
  const failed = { type: "Warning", reason: "Failed", action: "CreateBucket", note: "No." } as const;
  recorder.record({ ...failed, regarding: { ref: bucketRef, metadata: object } });
  await recorder.flush();
  recorder.record({ ...failed, regarding: { ref: bucketRef, metadata: object } });
  const team: ObjectMetadata = { name: "team", uid: "uid-team", resourceVersion: "1" };
  recorder.record({ ...failed, regarding: { ref: builtin.namespace, metadata: team } });
  await recorder.close();
  const { items } = await client.list(builtin.event, { namespace: "default" });
  const ours = items.filter((item) => item["reportingController"] === "drover.dev/buckets");
  expect(ours).toHaveLength(2);
  expect(ours.find(({ metadata }) => metadata.name.startsWith("a."))).toMatchObject({ series: { count: 2 } });
});
