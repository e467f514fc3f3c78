import { describe, expect, test } from "vitest";
import { WrongScopeError } from "../objects/resource-ref.ts";
import { eventLog } from "../testing/event-log.ts";
import {
  bucketAt,
  rawAdded,
  rawBookmark,
  reflectorUnderTest,
  rawFrame,
  pageReply,
} from "../testing/reflector-under-test.ts";
import { bucketRef, bucketList } from "../testing/objects.ts";
import { hangs, jsonReply, streams } from "../testing/scripted-server.ts";

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
    const taking = Promise.withResolvers<undefined>();
    const gate = Promise.withResolvers<undefined>();
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
