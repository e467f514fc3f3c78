import { describe, expect, test } from "vitest";
import {
  bucketAt,
  rawAdded,
  rawBookmark,
  rawListEnd,
  reflectorUnderTest,
  rawFrame,
  pageReply,
} from "../testing/reflector-under-test.ts";
import { hangs, refuses, type ReplyScript, streams, streamsAndBreaks } from "../testing/scripted-server.ts";
import type { ReflectorOptions } from "./run-reflector.ts";

const streaming = (scripts: readonly ReplyScript[], options: Partial<ReflectorOptions> = {}) =>
  reflectorUnderTest(scripts, { streamsLists: true, ...options });
const forbidden = refuses(422, "Invalid");

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
    ["refuses", forbidden, 0],
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
