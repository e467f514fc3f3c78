import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApplication } from "../http/application.ts";
import { createCluster } from "../storage/cluster.ts";
import { field, textAt } from "../json.ts";
import { nameOf, versionOf } from "../kube-object.ts";
import { createStore } from "../storage/store.ts";
import type { Store } from "../storage/store.ts";
import { anyText, configMap, configMaps, startClient } from "../testing/client.ts";
import type { Client, WatchEvent } from "../testing/client.ts";

let api: Client;
beforeEach(async () => void (api = await startClient({ historyLimit: 20, bookmarkEveryMs: 5 })));
afterEach(() => api.close());

const told = ({ type, object }: WatchEvent): string => `${type} ${nameOf(object)}`;
const write = (name: string, more = {}, labels = {}): Promise<unknown> =>
  api.call("POST", configMaps, configMap(name, more, labels));
const isEnd = ({ object }: WatchEvent): boolean =>
  field(object, "metadata", "annotations", "k8s.io/initial-events-end") === "true";

describe("a watch", () => {
  it("without a version begins with what is there", async () => {
    await write("a");
    const watch = await api.watch(configMaps);
    await write("b");
    expect([await watch.next(), await watch.next()].map(told)).toEqual(["ADDED a", "ADDED b"]);
  });

  it("from a version tells exactly what came after", async () => {
    await write("a");
    const since = api.resourceVersion;
    await api.patch(`${configMaps}/a`, { data: { x: "1" } });
    await api.call("POST", "/api/v1/namespaces/kube-system/configmaps", configMap("elsewhere"));
    await api.call("DELETE", `${configMaps}/a`);
    const watch = await api.watch(`${configMaps}?resourceVersion=${since}`);
    const [modified, deleted] = [await watch.next(), await watch.next()];
    await write("b");
    expect([modified, deleted, await watch.next()].map(told)).toEqual(["MODIFIED a", "DELETED a", "ADDED b"]);
    expect(deleted.object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", data: { x: "1" } });
    expect(Number(versionOf(deleted.object))).toBeGreaterThan(Number(versionOf(modified.object)));
  });

  it("tells of objects that enter and leave its selection as if they came and went", async () => {
    const watch = await api.watch(`${configMaps}?labelSelector=on`);
    await write("a");
    await api.patch(`${configMaps}/a`, { metadata: { labels: { on: "yes" } } });
    await api.patch(`${configMaps}/a`, { data: { x: "1" } });
    const { body } = await api.patch(`${configMaps}/a`, {
      metadata: { labels: { on: null } },
      data: { x: "2" },
    });
    await api.patch(`${configMaps}/a`, { metadata: { labels: { on: "yes" } } });
    const events = [await watch.next(), await watch.next(), await watch.next(), await watch.next()];
    expect(events.map(told)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED a"]);
    expect(events[2]?.object).toMatchObject({
      data: { x: "1" },
      metadata: { labels: { on: "yes" }, resourceVersion: versionOf(body) },
    });
  });

  it("by name tells of nothing else", async () => {
    const watch = await api.watch(`${configMaps}?fieldSelector=metadata.name%3Db`);
    await write("a");
    await write("b");
    expect(told(await watch.next())).toBe("ADDED b");
  });

  it("from a version that is forgotten gets 410 as an event, and ends", async () => {
    const since = api.resourceVersion;
    for (let i = 0; i < 30; i += 1) await write(`m${i}`);
    const watch = await api.watch(`${configMaps}?resourceVersion=${since}`);
    expect(await watch.next()).toMatchObject({
      type: "ERROR",
      object: { kind: "Status", code: 410, reason: "Expired" },
    });
    await expect(watch.next()).rejects.toThrow("the watch has ended");
  });

  it("ends at its timeout", async () => {
    const watch = await api.watch(`${configMaps}?timeoutSeconds=0`);
    await expect(watch.next()).rejects.toThrow("the watch has ended");
  });

  it("that allows bookmarks gets the latest version, whatever changed it", async () => {
    const watch = await api.watch(
      `${configMaps}?allowWatchBookmarks=true&resourceVersion=${api.resourceVersion}`,
    );
    await api.call("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
    const version = api.resourceVersion;
    const [bookmark] = (await watch.until(({ object }) => versionOf(object) === version)).slice(-1);
    expect(bookmark).toEqual({
      type: "BOOKMARK",
      object: { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: version } },
    });
  });
});

describe("a watch that lists", () => {
  const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  it("marks the end of what was there, even when the version is old", async () => {
    await write("a");
    await write("b");
    api.faults.compact();
    const watch = await api.watch(`${configMaps}?${query}&resourceVersion=1`);
    const events = await watch.until(isEnd);
    expect(events.map(told)).toEqual(["ADDED a", "ADDED b", "BOOKMARK "]);
    expect(versionOf(events[2]?.object ?? {})).toBe(api.resourceVersion);
  });

  it("can leave out what was there", async () => {
    await write("a");
    const watch = await api.watch(`${configMaps}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan`);
    await write("b");
    expect(told(await watch.next())).toBe("ADDED b");
  });

  it("needs the right resourceVersionMatch, and a version that has happened", async () => {
    await expect(api.watch(`${configMaps}?sendInitialEvents=true`)).rejects.toThrow("422");
    await expect(api.watch(`${configMaps}?resourceVersionMatch=NotOlderThan`)).rejects.toThrow("422");
    const early = await api.watch(`${configMaps}?${query}&resourceVersion=99999`);
    expect(await early.next()).toMatchObject({ type: "ERROR", object: { code: 504, reason: "Timeout" } });
  });
});

describe("a watch in another shape", () => {
  it("shows metadata only", async () => {
    const watch = await api.watch(
      `${configMaps}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      {
        accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
      },
    );
    const [end] = await watch.until(isEnd);
    expect(end?.object).toMatchObject({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" });
    await write("a", { data: { x: "1" } });
    const [, added] = [0, (await watch.until(({ type }) => type === "ADDED")).at(-1)];
    expect(added?.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "a" } });
    expect(added?.object).not.toHaveProperty("data");
  });

  it("shows tables, with column definitions in the first only", async () => {
    await write("a");
    await write("b");
    const watch = await api.watch(configMaps, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" });
    const [first, second] = [await watch.next(), await watch.next()];
    expect(first.object).toMatchObject({
      kind: "Table",
      columnDefinitions: [{ name: "Name" }, { name: "Age" }],
      rows: [{ cells: ["a", anyText] }],
    });
    expect(second.object).toMatchObject({
      kind: "Table",
      columnDefinitions: null,
      rows: [{ cells: ["b", anyText] }],
    });
    expect(textAt(second.object, "metadata", "resourceVersion")).toBe(api.resourceVersion);
  });
});

describe("faults", () => {
  it("drop the connections of all watches", async () => {
    const watch = await api.watch(configMaps);
    api.faults.dropWatches();
    await expect(watch.next()).rejects.toThrow(/terminated/);
  });

  it("answer in place of the server, until taken back", async () => {
    const restore = api.faults.respond(({ method, path }) =>
      method === "GET" && path === configMaps ? { status: 429, retryAfterSeconds: 7 } : undefined,
    );
    const refused = await api.call("GET", configMaps);
    expect(refused.headers.get("retry-after")).toBe("7");
    expect(refused.body).toMatchObject({
      kind: "Status",
      code: 429,
      reason: "TooManyRequests",
      details: { retryAfterSeconds: 7 },
    });
    expect((await api.call("GET", "/api/v1/configmaps")).code).toBe(200);
    restore();
    expect((await api.call("GET", configMaps)).code).toBe(200);
  });
});

describe("a watch that nobody reads any more", () => {
  it("is forgotten by the store", async () => {
    const store = createStore(10);
    const left = Promise.withResolvers<undefined>();
    const subscribe: Store["subscribe"] = (bucket, listener) => {
      const leave = store.subscribe(bucket, listener);
      return () => {
        leave();
        if (bucket === "configmaps") left.resolve(undefined);
      };
    };
    const cluster = createCluster({ ...store, subscribe }, () => new Date());
    const app = createApplication({ cluster, watches: new Set(), bookmarkEveryMs: 1000 }, new Set());
    const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    const server = createServer((incoming, outgoing) => void handle(incoming, outgoing)).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const abort = new AbortController();
    await fetch(`http://127.0.0.1:${port}${configMaps}?watch=1`, { signal: abort.signal });
    abort.abort();
    await left.promise;
    server.close();
  });
});

describe("closing", () => {
  it("ends open watches and frees the port", async () => {
    const other = await startClient();
    const watch = await other.watch(configMaps);
    await other.close();
    await expect(watch.next()).rejects.toThrow();
    const again = await startClient({ port: Number(new URL(other.url).port) });
    expect(again.url).toBe(other.url);
    await again.close();
  });
});
