import { describe, expect, test, vi } from "vitest";
import {
  bucketAt,
  rawAdded,
  watchUnderTest,
  rawBookmark,
  reflectorUnderTest,
  rawFrame,
  pageReply,
} from "../testing/reflector-under-test.ts";
import { bucketList } from "../testing/objects.ts";
import {
  hangs,
  hangsUp,
  jsonReply,
  raw,
  refuses,
  type ReplyScript,
  streams,
  streamsAndBreaks,
  streamsAndEnds,
} from "../testing/scripted-server.ts";
import { memorySeenIndex } from "./seen-index.ts";

describe("a broken watch resumes at the last good version", () => {
  const [first, next] = [rawAdded("a", "8"), bucketAt("b", "9")];
  test.each<[string, ReplyScript]>([
    ["garbage instead of a frame", streams(first, "%&!\n")],
    ["a frame of another kind", streams(first, rawFrame("ADDED", { ...next, kind: "X" }))],
    ["a frame of an unknown type", streams(first, rawFrame("TOUCHED", next))],
    ["an object without a uid", streams(first, rawFrame("ADDED", bucketAt("b", "9", { uid: null })))],
    ["an ERROR without a code", streams(first, rawFrame("ERROR", { kind: "Status" }))],
    ["an ERROR that is not a Status", streams(first, rawFrame("ERROR", {}))],
    ["a frame cut off in the middle", streamsAndEnds(first, '{"type":"ADDED","obj')],
    ["a frame without end", streams(first, "x".repeat(9 * 1024 * 1024))],
    ["a reset", streamsAndBreaks(first)],
  ])("%s", async (_name, script) => {
    const { server, log, sitOut, reflector } = await watchUnderTest(script, streams(rawAdded("c", "10")));
    await sitOut();
    await log.emitted("added c@10");
    expect(log.lines).toEqual(["synced 7", "added a@8", "added c@10"]);
    expect(server.requests[2]?.query.get("resourceVersion")).toBe("8");
    expect(reflector.status()).toMatchObject({ relists: 0, reconnects: 1 });
  });

  test("a frame of 2 MiB is not a fault", async () => {
    const big = rawFrame("ADDED", { ...bucketAt("a", "8"), spec: "x".repeat(2 * 1024 * 1024) });
    const { log } = await reflectorUnderTest([pageReply("7", []), streams(big)], { metadataOnly: false });
    await log.emitted("added a@8");
  });

  test("repeated frames are not emitted again", async () => {
    const frames = [
      rawAdded("a", "8"),
      rawFrame("MODIFIED", bucketAt("a", "9")),
      rawFrame("DELETED", bucketAt("a", "10")),
    ];
    const { log } = await watchUnderTest(streams(...frames, ...frames.slice(0, 2), rawAdded("b", "11")));
    await log.emitted("added b@11");
    expect(log.lines).toEqual(["synced 7", "added a@8", "modified a@9", "deleted a@10", "added b@11"]);
  });
});

describe("silence", () => {
  test("of 60 s ends the watch and its connection", async () => {
    const closed = Promise.withResolvers<undefined>();
    const halfOpen: ReplyScript = (request, response) => {
      response.on("close", () => closed.resolve(undefined));
      streams(rawBookmark("8"))(request, response);
    };
    const { clock, log, server, reflector } = await watchUnderTest(halfOpen, streams(rawBookmark("9")));
    await log.emitted("position 8");
    await clock.waitFor("silence");
    clock.advance(59_999);
    expect(reflector.status()).toMatchObject({ phase: "watching", silentFor: 59_999, reconnects: 0 });
    clock.advance(1);
    await closed.promise;
    await log.emitted("position 9");
    expect(server.requests[2]?.query.get("resourceVersion")).toBe("8");
    expect(reflector.status()).toMatchObject({ silentFor: 0, reconnects: 1, failures: 0 });
  });

  test("before the headers counts, too", async () => {
    const { clock, log, server } = await watchUnderTest(hangs, streams(rawBookmark("9")));
    await server.until(2);
    await clock.waitFor("silence");
    clock.advance(60_000);
    await log.emitted("position 9");
  });

  test("is measured from the last byte, even of an incomplete frame", async () => {
    const dripping = Promise.withResolvers<(piece: string) => void>();
    const { clock, log, reflector, server } = await watchUnderTest((request, response) => {
      streams(rawBookmark("8"))(request, response);
      dripping.resolve((piece) => response.write(piece));
    });
    const drip = await dripping.promise;
    await log.emitted("position 8");
    await clock.waitFor("silence");
    clock.advance(45_000);
    drip(JSON.stringify(rawBookmark("9")));
    await vi.waitUntil(() => reflector.status().silentFor === 0, 10_000);
    clock.advance(45_000);
    drip("\n");
    await log.emitted("position 9");
    expect(reflector.status()).toMatchObject({ phase: "watching", reconnects: 0 });
    expect(server.requests).toHaveLength(2);
  });
});

describe("410", () => {
  const gone = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
  const relisted = jsonReply(
    bucketList(
      [
        ...[bucketAt("kept", "3"), bucketAt("changed", "90")],
        ...[bucketAt("again", "91", { uid: "another" }), bucketAt("new", "92")],
      ],
      { resourceVersion: "100" },
    ),
  );

  test.each<[string, ReplyScript]>([
    ["as an ERROR frame", streams(rawFrame("ERROR", gone))],
    ["as an answer", refuses(410, "Expired")],
  ])("%s: one relist, which emits only the differences", async (_name, script) => {
    const { log, server, sitOut, reflector } = await reflectorUnderTest([
      pageReply("7", ["kept", "changed", "lost", "again"]),
      script,
      relisted,
      streams(rawBookmark("101")),
    ]);
    await sitOut();
    await log.emitted("position 101");
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
    expect(server.requests).toHaveLength(4);
  });

  test("on a continue token: the list begins again, and loses nothing", async () => {
    const { log, server, sitOut, reflector } = await reflectorUnderTest([
      pageReply("7", ["a", "b"], "t"),
      refuses(410, "Expired"),
      pageReply("9", ["b"], "u"),
      pageReply("9", ["c"]),
      streams(),
    ]);
    await sitOut();
    await log.emitted("synced 9");
    expect(log.lines).toEqual(["listed a@3", "listed b@3", "listed c@3", "deleted a@3", "synced 9"]);
    const tokens = server.requests.map(({ query }) => query.get("continue"));
    expect(tokens.slice(0, 4)).toEqual([null, "t", null, "u"]);
    expect(reflector.status().relists).toBe(1);
  });
});

describe("a server in trouble", () => {
  test("gets no request before its Retry-After", async () => {
    const busy = refuses(429, "TooManyRequests", {}, { "retry-after": "21" });
    const { sitOut, log, server } = await reflectorUnderTest([
      busy,
      pageReply("7", []),
      busy,
      streams(rawBookmark("8")),
    ]);
    expect(await sitOut()).toBeGreaterThanOrEqual(21_000);
    expect(await sitOut()).toBeGreaterThanOrEqual(21_000);
    await log.emitted("position 8");
    expect(server.requests).toHaveLength(4);
  });

  test.each<[string, ReplyScript]>([
    ["500", refuses(500, "InternalError")],
    ["no answer", hangsUp],
    ["HTML with 200", raw("<html/>", 200, { "content-type": "text/html" })],
    ["JSON that is not a stream", jsonReply(bucketList([]))],
    ["a watch that ends at once", streamsAndEnds()],
  ])("gets watches with increasing delays: %s", async (_name, script) => {
    const { sitOut, log } = await watchUnderTest(script, script, script, script, streams(rawBookmark("8")));
    expect([await sitOut(), await sitOut(), await sitOut(), await sitOut()].slice(1)).toEqual([
      1_000,
      2_000,
      expect.any(Number),
    ]);
    await log.emitted("position 8");
  });

  test.each<[string, ReplyScript]>([
    ["500", refuses(500, "InternalError")],
    ["HTML with 200", raw("<html/>", 200, { "content-type": "text/html" })],
    ["a list without metadata", jsonReply({ kind: "BucketList", items: [] })],
    ["the same continue token for ever", pageReply("7", [], "t")],
  ])("gets lists with increasing delays: %s", async (_name, script) => {
    const { sitOut, reflector, server } = await reflectorUnderTest([script]);
    const waits: number[] = [];
    while (waits.length < 4) waits.push(await sitOut());
    expect(waits.slice(1)).toEqual([1_000, 2_000, expect.any(Number)]);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(2_000);
    expect(reflector.status()).toMatchObject({ synced: false, failures: 4 });
    expect(server.requests.length).toBeLessThanOrEqual(10);
  });

  test("a watch that always ends at once leads to a list", async () => {
    const ends = streamsAndEnds();
    const { log, sitOut, server } = await reflectorUnderTest([
      pageReply("7", ["a"]),
      ...[ends, ends, ends, ends, ends],
      pageReply("9", ["a"]),
      streams(),
    ]);
    for (let round = 0; round < 5; round++) await sitOut();
    await server.until(8);
    expect(log.lines).toEqual(["listed a@3", "synced 7", "synced 9"]);
  });
});

describe("a refusal that needs an operator", () => {
  test.each<[string, ReplyScript, string]>([
    ["a permission", refuses(403, "Forbidden"), "Forbidden"],
    ["a kind that is not served", raw("404 page not found", 404), "NotServed"],
  ])("%s: is reported, retried, and ends by itself", async (_name, script, reason) => {
    const { log, reflector, clock } = await reflectorUnderTest([
      script,
      script,
      pageReply("7", []),
      streams(rawBookmark("8")),
    ]);
    const first = await clock.waitFor("reflector");
    expect(reflector.status()).toMatchObject({ synced: false, degraded: { reason } });
    clock.advance(first);
    clock.advance(await clock.waitFor("reflector"));
    await log.emitted("position 8");
    expect(reflector.status()).toMatchObject({ synced: true, degraded: undefined });
  });
});

test("after an interrupted first list, later deletions are emitted, and no object twice", async () => {
  const seen = memorySeenIndex();
  const first = await reflectorUnderTest([pageReply("7", ["a", "b"], "t"), hangs], { seen });
  await first.log.emitted("listed b@3");
  first.stopping.abort();
  await first.reflector.done;
  const second = await reflectorUnderTest([pageReply("9", ["b", "c"]), streams()], { seen });
  await second.log.emitted("synced 9");
  expect(second.log.lines).toEqual(["listed c@3", "deleted a@3", "synced 9"]);
});
