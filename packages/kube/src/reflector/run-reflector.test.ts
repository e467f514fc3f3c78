import { describe, expect, test } from "vitest";
import { WrongScopeError } from "../objects/resource-ref.ts";
import { eventLog } from "../testing/event-log.ts";
import {
  bucketAt,
  rawAdded,
  rawBookmark,
  rawListEnd,
  reflectorUnderTest,
  rawFrame,
  pageReply,
} from "../testing/reflector-under-test.ts";
import { bucketRef, bucketList } from "../testing/objects.ts";
import {
  hangs,
  jsonReply,
  refuses,
  type ReplyScript,
  streams,
  streamsAndBreaks,
} from "../testing/scripted-server.ts";
import type { ReflectorOptions } from "./run-reflector.ts";

describe("a reflector", () => {
  test("lists metadata page by page, then watches from the list's version", async () => {
    const listings: boolean[] = [];
    const { server, log } = await reflectorUnderTest(
      [
        pageReply("7", ["a", "b"], "next"),
        pageReply("7", ["c"]),
        streams(rawAdded("d", "8"), rawBookmark("9")),
      ],
      { beforeListing: (newest) => Promise.resolve(void listings.push(newest)) },
    );
    await log.emitted("position 9");
    const lists = ["listed a@3", "listed b@3", "listed c@3", "synced 7"];
    expect(log.lines).toEqual([...lists, "added d@8", "position 9"]);
    expect(listings).toEqual([true]);
    const [first, second, watch] = server.requests;
    expect(first?.query.get("limit")).toBe("500");
    expect(first?.headers.accept).toContain("as=PartialObjectMetadataList");
    expect(second?.query.get("continue")).toBe("next");
    expect(Object.fromEntries(watch?.query ?? [])).toMatchObject({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "7",
      timeoutSeconds: "300",
    });
    expect(watch?.headers.accept).toContain("as=PartialObjectMetadata;");
  });

  test("compares page by page, with the version in the first request only", async () => {
    const ending = Promise.withResolvers<() => void>();
    const { server, clock, log } = await reflectorUnderTest(
      [
        pageReply("7", ["a"]),
        (request, response) => {
          streams(rawBookmark("9"))(request, response);
          ending.resolve(() => void response.end());
        },
        ...[pageReply("9", ["a"], "next"), pageReply("9", ["b"]), hangs],
      ],
      { compareEvery: 5_000 },
    );
    await log.emitted("position 9");
    clock.advance(5_000);
    (await ending.promise)();
    await log.emitted("synced 9");
    const [, , first, second] = server.requests;
    expect(Object.fromEntries(first?.query ?? [])).toMatchObject({
      resourceVersion: "9",
      resourceVersionMatch: "Exact",
    });
    // An API server refuses a continue token with either parameter.
    expect(second?.query.get("continue")).toBe("next");
    expect(second?.query.has("resourceVersion")).toBe(false);
    expect(second?.query.has("resourceVersionMatch")).toBe(false);
  });

  test("accepts metadata as well as whole objects", async () => {
    const partial = { ...bucketAt("a", "3"), apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
    const list = {
      ...bucketList([partial], { resourceVersion: "7" }),
      apiVersion: "meta.k8s.io/v1",
      kind: "PartialObjectMetadataList",
    };
    const { log } = await reflectorUnderTest([
      jsonReply(list),
      streams(rawFrame("MODIFIED", { ...partial, metadata: bucketAt("a", "8").metadata })),
    ]);
    await log.emitted("modified a@8");
  });

  test("emits frames of one read together, and reads no more while they are processed", async () => {
    const [taking, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const log = eventLog();
    const taken: number[] = [];
    const later = Promise.withResolvers<() => void>();
    const { clock, reflector } = await reflectorUnderTest(
      [
        pageReply("7", []),
        (request, response) => {
          streams(rawAdded("a", "8"), rawAdded("b", "9"))(request, response);
          later.resolve(() => response.write(`${JSON.stringify(rawAdded("c", "10"))}\n`));
        },
      ],
      {
        onEvents: async (events) => {
          taken.push(events.length);
          log.onEvents(events);
          if (events[0]?.type !== "added") return;
          taking.resolve(undefined);
          await gate.promise;
        },
      },
    );
    await taking.promise;
    (await later.promise)();
    clock.advance(3_600_000);
    expect(log.lines).toEqual(["synced 7", "added a@8", "added b@9"]);
    expect(reflector.status()).toMatchObject({ phase: "watching", position: "7", reconnects: 0 });
    gate.resolve(undefined);
    await log.emitted("added c@10");
    expect(taken).toEqual([1, 2, 1]);
  });

  test("emits events again if their receiver threw", async () => {
    let refusals = 1;
    const log = eventLog();
    const [page, modified] = [pageReply("7", ["a", "b"]), streams(rawFrame("MODIFIED", bucketAt("a", "8")))];
    const { server, sitOut } = await reflectorUnderTest([...[page, page], ...[modified, modified]], {
      onEvents: (events) => {
        const isObject = events.some(({ type }) => type === "listed" || type === "modified");
        if (isObject && refusals-- > 0) throw new Error("Redis is away");
        log.onEvents(events);
      },
    });
    await sitOut();
    await log.emitted("synced 7");
    refusals = 1;
    await sitOut();
    await log.emitted("modified a@8");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "synced 7", "modified a@8"]);
    expect(server.requests.map(({ query }) => query.get("resourceVersion"))).toEqual([null, null, "7", "7"]);
  });

  test("ends when its signal fires, also during a request", async () => {
    const { reflector, stopping, server } = await reflectorUnderTest([pageReply("7", []), hangs]);
    await server.until(2);
    stopping.abort();
    await reflector.done;
    expect(reflector.status().phase).toBe("stopped");
  });

  test("refuses a namespace for a cluster-scoped kind", async () => {
    const options = { namespace: "ns", ref: { ...bucketRef, namespaced: false } };
    await expect(reflectorUnderTest([hangs], options)).rejects.toThrow(WrongScopeError);
  });
});

test("an object with a name that is invalid in keys does not stop others", async () => {
  const { log } = await reflectorUnderTest([pageReply("7", ["a", "a name", "b"]), streams()]);
  await log.emitted("synced 7");
  expect(log.lines).toEqual(["listed a@3", "listed b@3", "synced 7"]);
});

const streaming = (scripts: readonly ReplyScript[], options: Partial<ReflectorOptions> = {}) =>
  reflectorUnderTest(scripts, { streamsLists: true, ...options });

describe("a reflector that streams its list", () => {
  test("requests metadata of the newest state, and watches on the same connection", async () => {
    const { server, log, reflector } = await streaming([
      streams(rawAdded("a"), rawAdded("b"), rawListEnd("7"), rawAdded("c", "8"), rawBookmark("9")),
      hangs,
    ]);
    await log.emitted("position 9");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "synced 7", "added c@8", "position 9"]);
    expect(server.requests).toHaveLength(1);
    const [asked] = server.requests;
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: "300",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      resourceVersion: "",
    });
    expect(asked?.headers.accept).toContain("as=PartialObjectMetadata;");
    await expect.poll(() => reflector.status().position).toBe("9");
    expect(reflector.status()).toMatchObject({ phase: "watching", synced: true, following: true });
  });

  test("is synced only at its end, without the objects that were deleted meanwhile", async () => {
    const more = Promise.withResolvers<(...frames: readonly object[]) => void>();
    const { log, reflector } = await streaming([
      (request, response) => {
        streams(rawAdded("a"), rawAdded("b"), rawFrame("DELETED", bucketAt("b", "5")))(request, response);
        more.resolve((...frames) => response.write(frames.map((one) => `${JSON.stringify(one)}\n`).join("")));
      },
    ]);
    await log.emitted("deleted b@5");
    expect(reflector.status()).toMatchObject({ phase: "listing", synced: false, position: undefined });
    (await more.promise)(rawFrame("MODIFIED", bucketAt("a", "6")), rawListEnd("7"));
    await log.emitted("synced 7");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "deleted b@5", "modified a@6", "synced 7"]);
  });

  test("emits only differences after a 410, and deletions only at its end", async () => {
    const gone = rawFrame("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" });
    /** For each list: true if the newest state was requested. */
    const listings: boolean[] = [];
    const { server, log, sitOut } = await streaming(
      [
        streams(rawAdded("kept"), rawAdded("lost"), rawListEnd("7"), gone),
        streams(rawAdded("kept"), rawAdded("new", "90"), rawListEnd("100"), rawAdded("later", "101")),
      ],
      { beforeListing: (newest) => Promise.resolve(void listings.push(newest)) },
    );
    await sitOut();
    await log.emitted("added later@101");
    expect(log.lines.slice(3)).toEqual(["added new@90", "deleted lost@3", "synced 100", "added later@101"]);
    expect(server.requests[1]?.query.get("resourceVersion")).toBe("7");
    expect(listings).toEqual([true, false]);
    expect(server.requests).toHaveLength(2);
  });

  test("lists again when it is interrupted, and emits nothing twice", async () => {
    const { server, log, sitOut } = await streaming([
      streamsAndBreaks(rawAdded("a")),
      streams(rawAdded("b"), rawListEnd("9"), rawBookmark("10")),
    ]);
    await sitOut();
    await log.emitted("position 10");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "deleted a@3", "synced 9", "position 10"]);
    expect(server.requests).toHaveLength(2);
  });

  test("lists in pages if the stream is silent before its end", async () => {
    const { server, log, clock, sitOut } = await streaming([
      streams(rawAdded("a")),
      pageReply("9", ["a", "b"]),
      streams(rawBookmark("10")),
    ]);
    await log.emitted("listed a@3");
    await clock.waitFor("silence");
    clock.advance(60_000);
    await sitOut();
    await log.emitted("position 10");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "synced 9", "position 10"]);
    expect(server.requests[1]?.query.get("limit")).toBe("500");
  });

  test("reads no more while events are processed", async () => {
    const [taking, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const more = Promise.withResolvers<() => void>();
    const sizes: number[] = [];
    const { clock, reflector } = await streaming(
      [
        (request, response) => {
          streams(rawAdded("a"))(request, response);
          more.resolve(() =>
            response.write(`${JSON.stringify(rawAdded("b"))}\n${JSON.stringify(rawListEnd("7"))}\n`),
          );
        },
      ],
      {
        onEvents: async (events) => {
          sizes.push(events.length);
          taking.resolve(undefined);
          await gate.promise;
        },
      },
    );
    await taking.promise;
    (await more.promise)();
    clock.advance(3_600_000);
    expect(sizes).toEqual([1]);
    expect(reflector.status()).toMatchObject({ phase: "listing", failures: 0 });
    gate.resolve(undefined);
    await expect.poll(() => reflector.status().position).toBe("7");
    expect(sizes).toEqual([1, 1, 1]);
  });
});

test("a list that is refused for a while is still streamed", async () => {
  const busy = refuses(429, "TooManyRequests");
  const { server, log, sitOut } = await streaming([
    busy,
    busy,
    busy,
    streams(rawAdded("a"), rawListEnd("7")),
  ]);
  for (let wait = 0; wait < 3; wait++) await sitOut();
  await log.emitted("synced 7");
  expect(server.requests.map(({ query }) => query.get("sendInitialEvents"))).toEqual(Array(4).fill("true"));
});

describe("a server that does not stream lists", () => {
  test.each<[string, ReplyScript, number]>([
    ["refuses", refuses(422, "Invalid"), 0],
    ["watches instead", streams(rawAdded("a"), rawBookmark("6")), 1],
  ])("%s, and is asked for pages after that", async (_how, script, waits) => {
    const { server, log, sitOut } = await streaming([
      script,
      pageReply("7", ["a"]),
      refuses(410, "Expired"),
      pageReply("9", ["a"]),
      streams(rawBookmark("10")),
    ]);
    for (let wait = 0; wait <= waits; wait++) await sitOut();
    await log.emitted("position 10");
    expect(log.lines).toEqual(["listed a@3", "synced 7", "synced 9", "position 10"]);
    expect(server.requests.map(({ query }) => query.get("sendInitialEvents"))).toEqual([
      "true",
      ...[null, null, null, null],
    ]);
  });
});
