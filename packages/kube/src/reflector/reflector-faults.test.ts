import { describe, expect, test, vi } from "vitest";
import { at, bookmark, following, frame, page } from "../testing/following.ts";
import { bucketList } from "../testing/objects.ts";
import {
  hangs,
  hangsUp,
  json,
  raw,
  refuses,
  type Script,
  streams,
  streamsAndBreaks,
  streamsAndEnds,
} from "../testing/scripted-server.ts";
import { memorySeenIndex } from "./seen-index.ts";

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

  test("begins anew with every byte, though no frame is whole yet", async () => {
    const dripping = Promise.withResolvers<(piece: string) => void>();
    const { clock, log, reflector, server } = await following([
      page("7", []),
      (heard, response) => {
        streams(bookmark("8"))(heard, response);
        dripping.resolve((piece) => response.write(piece));
      },
    ]);
    const drip = await dripping.promise;
    await log.told("position 8");
    await clock.waitFor("silence");
    clock.advance(45_000);
    drip(JSON.stringify(bookmark("9")));
    await vi.waitUntil(() => reflector.status().silentFor === 0, 10_000);
    clock.advance(45_000);
    drip("\n");
    await log.told("position 9");
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

test("who goes on after a first listing that broke off tells of what went meanwhile, and of nothing twice", async () => {
  const seen = memorySeenIndex();
  const first = await following([page("7", ["a", "b"], "t"), hangs], { seen });
  await first.log.told("listed b@3");
  first.stopping.abort();
  await first.reflector.done;
  const second = await following([page("9", ["b", "c"]), streams()], { seen });
  await second.log.told("synced 9");
  expect(second.log.lines).toEqual(["listed c@3", "deleted a@3", "synced 9"]);
});
