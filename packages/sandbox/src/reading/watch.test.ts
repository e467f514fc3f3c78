import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createApplication } from "../http/application.ts";
import { createCluster } from "../storage/cluster.ts";
import { field, listAt, textAt } from "../json.ts";
import { nameOf, versionOf } from "../kube-object.ts";
import { createStore } from "../storage/store.ts";
import type { Store } from "../storage/store.ts";
import { configMap, configMaps, startClient } from "../testing/client.ts";
import type { Client, Reply, WatchEvent } from "../testing/client.ts";

let api: Client;
beforeEach(async () => void (api = await startClient()));
afterEach(() => api.close());

const titleOf = ({ type, object }: WatchEvent): string => `${type} ${nameOf(object)}`;
const write = (name: string, more = {}, labels = {}): Promise<unknown> =>
  api.call("POST", configMaps, configMap(name, more, labels));
const isEnd = ({ object }: WatchEvent): boolean =>
  field(object, "metadata", "annotations", "k8s.io/initial-events-end") === "true";

describe("a watch", () => {
  it("without a version begins with what is there", async () => {
    await write("a");
    const watch = await api.watch(configMaps);
    await write("b");
    expect([await watch.next(), await watch.next()].map(titleOf)).toEqual(["ADDED a", "ADDED b"]);
  });

  it("emits objects that enter and leave its selection when that happens", async () => {
    const watch = await api.watch(`${configMaps}?labelSelector=on`);
    await write("a", {}, { on: "yes" });
    await api.patch(`${configMaps}/a`, { data: { x: "1" } });
    await api.patch(`${configMaps}/a`, { metadata: { labels: { on: null } } });
    await api.patch(`${configMaps}/a`, { metadata: { labels: { on: "yes" } } });
    const events = [await watch.next(), await watch.next(), await watch.next(), await watch.next()];
    expect(events.map(titleOf)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED a"]);
  });

  it("from a version that is forgotten gets 410 as an event, and ends", async () => {
    const since = api.resourceVersion;
    await write("a");
    api.faults.compact();
    const watch = await api.watch(`${configMaps}?resourceVersion=${since}`);
    expect(await watch.next()).toMatchObject({
      type: "ERROR",
      object: { kind: "Status", code: 410, reason: "Expired" },
    });
    await expect(watch.next()).rejects.toThrow("the watch has ended");
  });

  it("that allows bookmarks gets the latest version, whatever changed it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const watch = await api.watch(
      `${configMaps}?allowWatchBookmarks=true&resourceVersion=${api.resourceVersion}`,
    );
    await api.call("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
    const version = api.resourceVersion;
    vi.advanceTimersByTime(60_000);
    expect(await watch.next()).toEqual({
      type: "BOOKMARK",
      object: { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: version } },
    });
    vi.useRealTimers();
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
    expect(events.map(titleOf)).toEqual(["ADDED a", "ADDED b", "BOOKMARK "]);
    expect(versionOf(events[2]?.object ?? {})).toBe(api.resourceVersion);
  });
});

describe("a list of a version that is forgotten", () => {
  it("answers 410; that of a page has a token that goes on without it", async () => {
    for (const name of ["a", "b", "c"]) await write(name);
    const since = api.resourceVersion;
    const first = await api.call("GET", `${configMaps}?limit=2`);
    await write("d");
    api.faults.compact();
    const exact = await api.call("GET", `${configMaps}?resourceVersion=${since}&resourceVersionMatch=Exact`);
    expect(exact.body).toMatchObject({ code: 410, reason: "Expired" });
    const page = ({ body }: Reply) =>
      api.call("GET", `${configMaps}?limit=2&continue=${textAt(body, "metadata", "continue") ?? ""}`);
    const gone = await page(first);
    expect(gone.body).toMatchObject({ code: 410, reason: "Expired" });
    const rest = await page(gone);
    expect(listAt(rest.body, "items")).toMatchObject([
      { metadata: { name: "c" } },
      { metadata: { name: "d" } },
    ]);
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

describe("a watch whose client has gone", () => {
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
    const app = createApplication({ cluster, watches: new Set() }, new Set());
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
