import type { Log } from "@drover/controller";
import { afterEach, describe, expect, test } from "vitest";
import { connect } from "../connect.ts";
import { WrongScopeError } from "../resource-ref.ts";
import { eventLog } from "../testing/event-log.ts";
import { bucket, bucketList, bucketObject } from "../testing/objects.ts";
import {
  hangs,
  hangsUp,
  json,
  raw,
  refuses,
  type Script,
  scriptedServer,
  streams,
  streamsAndBreaks,
  streamsAndEnds,
} from "../testing/scripted-server.ts";
import { virtualTimers } from "../testing/virtual-timers.ts";
import { type ReflectorOptions, runReflector } from "./run-reflector.ts";

const silent: Log = { debug: noop, info: noop, warn: noop, error: noop };
function noop(): void {
  // Tests look at what is told, not at what is logged.
}

const stack: AsyncDisposableStack[] = [];
afterEach(async () => {
  while (stack.length > 0) await stack.pop()?.disposeAsync();
});

/** A reflector against scripted answers, on a clock that the test holds. */
async function following(scripts: readonly Script[], options: Partial<ReflectorOptions> = {}) {
  const owned = new AsyncDisposableStack();
  stack.push(owned);
  const server = owned.use(await scriptedServer(...scripts));
  const client = await connect({ kubeconfig: server.kubeconfig });
  owned.defer(() => client.close());
  const clock = virtualTimers();
  const log = eventLog();
  const stopping = new AbortController();
  const reflector = runReflector({
    ...{
      client,
      ref: bucket,
      signal: stopping.signal,
      onEvent: (event) => log.onEvent(event),
      log: silent,
      timers: clock,
    },
    random: () => 0,
    ...options,
  });
  owned.defer(async () => {
    stopping.abort();
    await reflector.done;
  });
  /** Sits out the wait that the reflector is in, or comes to; its span. */
  const sitOut = async (): Promise<number> => {
    const span = await clock.waitFor("reflector");
    clock.advance(span);
    return span;
  };
  return { server, client, clock, log, reflector, stopping, sitOut };
}

const at = (name: string, resourceVersion: string, more: object = {}) =>
  bucketObject(name, { resourceVersion, ...more });
const frame = (type: string, object: object) => ({ type, object });
const bookmark = (resourceVersion: string) =>
  frame("BOOKMARK", { apiVersion: "s3.example.com/v1", kind: "Bucket", metadata: { resourceVersion } });
const page = (resourceVersion: string, names: readonly string[], token?: string) =>
  json(
    bucketList(
      names.map((name) => at(name, "3")),
      { resourceVersion, continue: token },
    ),
  );

describe("a reflector", () => {
  test("lists page by page, metadata only, then watches from there", async () => {
    const { server, log } = await following([
      page("7", ["a", "b"], "next"),
      page("7", ["c"]),
      streams(frame("ADDED", at("d", "8")), bookmark("9")),
    ]);
    await log.told("position 9");
    expect(log.lines).toEqual([
      "listed a@3",
      "listed b@3",
      "listed c@3",
      "synced 7",
      "added d@8",
      "position 9",
    ]);
    const [first, second, watch] = server.heard;
    expect(first?.query.get("limit")).toBe("500");
    expect(first?.headers.accept).toContain("as=PartialObjectMetadataList");
    expect(second?.query.get("continue")).toBe("next");
    expect(Object.fromEntries(watch?.query ?? [])).toMatchObject({
      ...{ watch: "true", allowWatchBookmarks: "true", resourceVersion: "7", timeoutSeconds: "300" },
    });
    expect(watch?.headers.accept).toContain("as=PartialObjectMetadata;");
  });

  test("understands metadata alone as well as whole objects", async () => {
    const partial = { ...at("a", "3"), apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
    const list = { ...bucketList([partial], { resourceVersion: "7" }), kind: "PartialObjectMetadataList" };
    const { log } = await following([
      json(list),
      streams(frame("MODIFIED", { ...partial, metadata: at("a", "8").metadata })),
    ]);
    await log.told("modified a@8");
  });

  test("takes one event after the other: nothing is read while one is being taken", async () => {
    const taking = Promise.withResolvers<undefined>();
    const gate = Promise.withResolvers<undefined>();
    const log = eventLog();
    const { clock, reflector } = await following(
      [page("7", []), streams(frame("ADDED", at("a", "8")), frame("ADDED", at("b", "9")))],
      {
        onEvent: (event) => {
          log.onEvent(event);
          if (event.type !== "added") return;
          taking.resolve(undefined);
          return gate.promise;
        },
      },
    );
    await taking.promise;
    clock.advance(3_600_000);
    expect(log.lines).toEqual(["synced 7", "added a@8"]);
    expect(reflector.status()).toMatchObject({ phase: "watching", position: "7", reconnects: 0 });
    gate.resolve(undefined);
    await log.told("added b@9");
  });

  test("tells again what its receiver threw on", async () => {
    let refusals = 1;
    const log = eventLog();
    const { server, sitOut } = await following(
      [
        page("7", ["a", "b"]),
        page("7", ["a", "b"]),
        streams(frame("MODIFIED", at("a", "8"))),
        streams(frame("MODIFIED", at("a", "8"))),
      ],
      {
        onEvent: (event) => {
          const isB = "object" in event && (event.object.name === "b" || event.type === "modified");
          if (isB && refusals-- > 0) throw new Error("Redis is away");
          log.onEvent(event);
        },
      },
    );
    await sitOut();
    await log.told("synced 7");
    refusals = 1;
    await sitOut();
    await log.told("modified a@8");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "synced 7", "modified a@8"]);
    expect(server.heard.map(({ query }) => query.get("resourceVersion"))).toEqual([null, null, "7", "7"]);
  });

  test("ends when its signal fires, wherever it is", async () => {
    const { reflector, stopping, server } = await following([page("7", []), hangs]);
    await server.until(2);
    stopping.abort();
    await reflector.done;
    expect(reflector.status().phase).toBe("stopped");
  });

  test("refuses a namespace for a cluster-scoped kind", async () => {
    const { client } = await following([hangs]);
    const options = { client, signal: AbortSignal.abort(), onEvent: noop, log: silent, namespace: "ns" };
    expect(() => runReflector({ ...options, ref: { ...bucket, namespaced: false } })).toThrow(
      WrongScopeError,
    );
  });
});

describe("a broken watch resumes at the last good version", () => {
  test.each<[string, Script]>([
    ["garbage instead of a frame", streams(frame("ADDED", at("a", "8")), "%&!\n")],
    [
      "a frame of another kind",
      streams(frame("ADDED", at("a", "8")), frame("ADDED", { ...at("b", "9"), kind: "X" })),
    ],
    ["a frame of no known type", streams(frame("ADDED", at("a", "8")), frame("TOUCHED", at("b", "9")))],
    [
      "an object without a uid",
      streams(frame("ADDED", at("a", "8")), frame("ADDED", at("b", "9", { uid: null }))),
    ],
    ["an ERROR without a code", streams(frame("ADDED", at("a", "8")), frame("ERROR", { kind: "Status" }))],
    ["an ERROR that is no Status", streams(frame("ADDED", at("a", "8")), frame("ERROR", {}))],
    ["a frame cut off in the middle", streamsAndEnds(frame("ADDED", at("a", "8")), '{"type":"ADDED","obj')],
    ["a frame without end", streams(frame("ADDED", at("a", "8")), "x".repeat(9 * 1024 * 1024))],
    ["a reset", streamsAndBreaks(frame("ADDED", at("a", "8")))],
  ])("%s", async (_name, script) => {
    const { server, log, sitOut, reflector } = await following([
      page("7", []),
      script,
      streams(frame("ADDED", at("c", "10"))),
    ]);
    await sitOut();
    await log.told("added c@10");
    expect(log.lines).toEqual(["synced 7", "added a@8", "added c@10"]);
    expect(server.heard[2]?.query.get("resourceVersion")).toBe("8");
    expect(reflector.status()).toMatchObject({ relists: 0, reconnects: 1 });
  });

  test("a frame of 2 MiB is none of these", async () => {
    const big = frame("ADDED", { ...at("a", "8"), spec: "x".repeat(2 * 1024 * 1024) });
    const { log } = await following([page("7", []), streams(big)], { metadataOnly: false });
    await log.told("added a@8");
  });

  test("frames that were told before are not told again", async () => {
    const told = [
      frame("ADDED", at("a", "8")),
      frame("MODIFIED", at("a", "9")),
      frame("DELETED", at("a", "10")),
    ];
    const { log } = await following([
      page("7", []),
      streams(...told, ...told.slice(0, 2), frame("ADDED", at("b", "11"))),
    ]);
    await log.told("added b@11");
    expect(log.lines).toEqual(["synced 7", "added a@8", "modified a@9", "deleted a@10", "added b@11"]);
  });
});

describe("silence", () => {
  test("of 60 s ends the watch, and the connection with it", async () => {
    const closed = Promise.withResolvers<undefined>();
    const halfOpen: Script = (heard, response) => {
      response.on("close", () => closed.resolve(undefined));
      streams(bookmark("8"))(heard, response);
    };
    const { clock, log, server, reflector } = await following([
      page("7", []),
      halfOpen,
      streams(bookmark("9")),
    ]);
    await log.told("position 8");
    await clock.waitFor("silence");
    clock.advance(59_999);
    expect(reflector.status()).toMatchObject({ phase: "watching", silentFor: 59_999, reconnects: 0 });
    clock.advance(1);
    await closed.promise;
    await log.told("position 9");
    expect(server.heard[2]?.query.get("resourceVersion")).toBe("8");
    expect(reflector.status().silentFor).toBe(0);
  });

  test("before the headers counts too", async () => {
    const { clock, log, server } = await following([page("7", []), hangs, streams(bookmark("9"))]);
    await server.until(2);
    await clock.waitFor("silence");
    clock.advance(60_000);
    await log.told("position 9");
  });

  test("begins anew with every byte", async () => {
    const dripping = Promise.withResolvers<() => void>();
    const { clock, log, reflector, server } = await following([
      page("7", []),
      (heard, response) => {
        streams(bookmark("8"))(heard, response);
        dripping.resolve(() => response.write(`${JSON.stringify(bookmark("9"))}\n`));
      },
    ]);
    const drip = await dripping.promise;
    await log.told("position 8");
    await clock.waitFor("silence");
    clock.advance(45_000);
    drip();
    await log.told("position 9");
    await clock.waitFor("silence");
    clock.advance(45_000);
    expect(reflector.status()).toMatchObject({ phase: "watching", reconnects: 0 });
    expect(server.heard).toHaveLength(2);
  });
});

describe("410", () => {
  const gone = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
  const relisted = json(
    bucketList(
      [at("kept", "3"), at("changed", "90"), at("again", "91", { uid: "another" }), at("new", "92")],
      {
        resourceVersion: "100",
      },
    ),
  );

  test.each<[string, Script]>([
    ["as an ERROR frame", streams(frame("ERROR", gone))],
    ["as an answer", refuses(410, "Expired")],
  ])("%s: one relist, which tells the differences alone", async (_name, script) => {
    const { log, server, sitOut, reflector } = await following([
      page("7", ["kept", "changed", "lost", "again"]),
      script,
      relisted,
      streams(bookmark("101")),
    ]);
    await sitOut();
    await log.told("position 101");
    expect(log.lines.slice(4)).toEqual([
      "synced 7",
      "modified changed@90",
      "deleted again@3",
      "added again@91",
      "added new@92",
      "deleted lost@3",
      "synced 100",
      "position 101",
    ]);
    expect(reflector.status().relists).toBe(1);
    expect(server.heard).toHaveLength(4);
  });

  test("on a continue token: the listing begins anew, and loses nothing", async () => {
    const { log, server, sitOut, reflector } = await following([
      page("7", ["a", "b"], "t"),
      refuses(410, "Expired"),
      page("9", ["b"], "u"),
      page("9", ["c"]),
      streams(),
    ]);
    await sitOut();
    await log.told("synced 9");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "listed c@3", "deleted a@3", "synced 9"]);
    expect(server.heard.map(({ query }) => query.get("continue")).slice(0, 4)).toEqual([
      null,
      "t",
      null,
      "u",
    ]);
    expect(reflector.status().relists).toBe(1);
  });
});

describe("a server in trouble", () => {
  test("is left alone for as long as it asks", async () => {
    const busy = refuses(429, "TooManyRequests", {}, { "retry-after": "21" });
    const { sitOut, log, server } = await following([busy, page("7", []), busy, streams(bookmark("8"))]);
    expect(await sitOut()).toBeGreaterThanOrEqual(21_000);
    expect(await sitOut()).toBeGreaterThanOrEqual(21_000);
    await log.told("position 8");
    expect(server.heard).toHaveLength(4);
  });

  test.each<[string, Script]>([
    ["500", refuses(500, "InternalError")],
    ["no answer", hangsUp],
    ["HTML with 200", raw("<html/>", 200, { "content-type": "text/html" })],
    ["JSON that is no stream", json(bucketList([]))],
    ["a watch that ends at once", streamsAndEnds()],
  ])("is asked less and less often for a watch: %s", async (_name, script) => {
    const { sitOut, log } = await following([
      page("7", []),
      script,
      script,
      script,
      script,
      streams(bookmark("8")),
    ]);
    expect([await sitOut(), await sitOut(), await sitOut(), await sitOut()].slice(1)).toEqual([
      1_000,
      2_000,
      expect.any(Number),
    ]);
    await log.told("position 8");
  });

  test.each<[string, Script]>([
    ["500", refuses(500, "InternalError")],
    ["HTML with 200", raw("<html/>", 200, { "content-type": "text/html" })],
    ["a list without metadata", json({ kind: "BucketList", items: [] })],
    ["the same continue token for ever", page("7", [], "t")],
  ])("is asked less and less often for a list: %s", async (_name, script) => {
    const { sitOut, reflector, server } = await following([script]);
    const waits: number[] = [];
    while (waits.length < 4) waits.push(await sitOut());
    expect(waits.slice(1)).toEqual([1_000, 2_000, expect.any(Number)]);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(2_000);
    expect(reflector.status()).toMatchObject({ synced: false, failures: 4 });
    expect(server.heard.length).toBeLessThanOrEqual(10);
  });

  test("a watch that always ends at once leads to a listing", async () => {
    const ends = streamsAndEnds();
    const { log, sitOut, server } = await following([
      page("7", ["a"]),
      ends,
      ends,
      ends,
      ends,
      ends,
      page("9", ["a"]),
      streams(),
    ]);
    for (let round = 0; round < 5; round++) await sitOut();
    await server.until(8);
    expect(log.lines).toEqual(["listed a@3", "synced 7", "synced 9"]);
  });
});

describe("what somebody must mend", () => {
  test.each<[string, Script, string]>([
    ["a permission", refuses(403, "Forbidden"), "Forbidden"],
    ["a kind that is not served", raw("404 page not found", 404), "NotServed"],
  ])("%s: reported, retried, and over by itself", async (_name, script, reason) => {
    const { log, reflector, clock } = await following([
      script,
      script,
      page("7", []),
      streams(bookmark("8")),
    ]);
    const first = await clock.waitFor("reflector");
    expect(reflector.status()).toMatchObject({ synced: false, degraded: { reason } });
    clock.advance(first);
    clock.advance(await clock.waitFor("reflector"));
    await log.told("position 8");
    expect(reflector.status()).toMatchObject({ synced: true, degraded: undefined });
  });
});

test("an object whose name no key can carry does not stop its neighbours", async () => {
  const { log } = await following([page("7", ["a", "a name", "b"]), streams()]);
  await log.told("synced 7");
  expect(log.lines).toEqual(["listed a@3", "listed b@3", "synced 7"]);
});
