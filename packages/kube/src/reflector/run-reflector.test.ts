import { silentLog } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { WrongScopeError } from "../resource-ref.ts";
import { eventLog } from "../testing/event-log.ts";
import { at, bookmark, following, frame, page } from "../testing/following.ts";
import { bucket, bucketList } from "../testing/objects.ts";
import { hangs, json, streams } from "../testing/scripted-server.ts";
import { runReflector } from "./run-reflector.ts";

describe("a reflector", () => {
  test("lists page by page, metadata only, then watches from there", async () => {
    const listings: boolean[] = [];
    const { server, log } = await following(
      [page("7", ["a", "b"], "next"), page("7", ["c"]), streams(frame("ADDED", at("d", "8")), bookmark("9"))],
      { beforeListing: (newest) => Promise.resolve(void listings.push(newest)) },
    );
    await log.told("position 9");
    expect(log.lines).toEqual([
      "listed a@3",
      "listed b@3",
      "listed c@3",
      "synced 7",
      "added d@8",
      "position 9",
    ]);
    expect(listings).toEqual([true]);
    const [first, second, watch] = server.heard;
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

  test("compares page by page, of which the first alone says at which version", async () => {
    const ending = Promise.withResolvers<() => void>();
    const { server, clock, log } = await following(
      [
        page("7", ["a"]),
        (heard, response) => {
          streams(bookmark("9"))(heard, response);
          ending.resolve(() => void response.end());
        },
        ...[page("9", ["a"], "next"), page("9", ["b"]), hangs],
      ],
      { compareEvery: 5_000 },
    );
    await log.told("position 9");
    clock.advance(5_000);
    (await ending.promise)();
    await log.told("synced 9");
    const [, , first, second] = server.heard;
    expect(Object.fromEntries(first?.query ?? [])).toMatchObject({
      resourceVersion: "9",
      resourceVersionMatch: "Exact",
    });
    // An API server refuses a continue token with either.
    expect(second?.query.get("continue")).toBe("next");
    expect([second?.query.get("resourceVersion"), second?.query.get("resourceVersionMatch")]).toEqual([
      null,
      null,
    ]);
  });

  test("understands metadata alone as well as whole objects", async () => {
    const partial = { ...at("a", "3"), apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
    const list = {
      ...bucketList([partial], { resourceVersion: "7" }),
      apiVersion: "meta.k8s.io/v1",
      kind: "PartialObjectMetadataList",
    };
    const { log } = await following([
      json(list),
      streams(frame("MODIFIED", { ...partial, metadata: at("a", "8").metadata })),
    ]);
    await log.told("modified a@8");
  });

  test("tells together what came together, and reads nothing while that is being taken", async () => {
    const taking = Promise.withResolvers<undefined>();
    const gate = Promise.withResolvers<undefined>();
    const log = eventLog();
    const taken: number[] = [];
    const later = Promise.withResolvers<() => void>();
    const { clock, reflector } = await following(
      [
        page("7", []),
        (heard, response) => {
          streams(frame("ADDED", at("a", "8")), frame("ADDED", at("b", "9")))(heard, response);
          later.resolve(() => response.write(`${JSON.stringify(frame("ADDED", at("c", "10")))}\n`));
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
    await log.told("added c@10");
    expect(taken).toEqual([1, 2, 1]);
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
        onEvents: (events) => {
          const isTold = events.some(({ type }) => type === "listed" || type === "modified");
          if (isTold && refusals-- > 0) throw new Error("Redis is away");
          log.onEvents(events);
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
    const options = {
      client,
      signal: AbortSignal.abort(),
      onEvents: () => undefined,
      log: silentLog,
      namespace: "ns",
    };
    expect(() => runReflector({ ...options, ref: { ...bucket, namespaced: false } })).toThrow(
      WrongScopeError,
    );
  });
});

test("an object whose name no key can carry does not stop its neighbours", async () => {
  const { log } = await following([page("7", ["a", "a name", "b"]), streams()]);
  await log.told("synced 7");
  expect(log.lines).toEqual(["listed a@3", "listed b@3", "synced 7"]);
});
