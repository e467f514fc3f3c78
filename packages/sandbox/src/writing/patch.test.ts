import { describe, expect, it } from "vitest";
import type { Json } from "../json.ts";
import { jsonPatch, mergePatch, patchFor } from "./patch.ts";
import { ApiError } from "../http/status.ts";
import { strategicMerge } from "./strategic-merge.ts";

describe("a merge patch", () => {
  it.each<[Json, Json, Json]>([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ a: { b: 1 } }, { a: { b: null, c: { d: null } } }, { a: { c: {} } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 1 }, [1], [1]],
    [{ a: [1] }, { a: [{ b: null, c: [null] }] }, { a: [{ c: [null] }] }],
    [{ a: { b: 1 } }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ])("of %j with %j is %j", (target, patch, result) => expect(mergePatch(target, patch)).toEqual(result));
});

describe("a JSON patch", () => {
  it.each<[Json, Json, Json]>([
    [{ a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
    [{ a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
    [{ a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
    [{ a: [{ b: 1 }] }, [{ op: "replace", path: "/a/0/b", value: 2 }], { a: [{ b: 2 }] }],
    [{ a: [1, 2] }, [{ op: "remove", path: "/a/0" }], { a: [2] }],
    [{ "a/b~c": 1 }, [{ op: "remove", path: "/a~1b~0c" }], {}],
    [{ a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
    [{ a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/c" }], { a: { b: 1 }, c: { b: 1 } }],
    [
      { a: 1 },
      [
        { op: "test", path: "/a", value: 1 },
        { op: "remove", path: "/a" },
      ],
      {},
    ],
  ])("of %j with %j is %j", (document, patch, result) => expect(jsonPatch(document, patch)).toEqual(result));

  it.each<[Json]>([
    [[{ op: "test", path: "/a", value: 2 }]],
    [[{ op: "remove", path: "/b" }]],
    [[{ op: "add", path: "/b/c", value: 1 }]],
    [[{ op: "add", path: "/l/2", value: 1 }]],
    [[{ op: "explode", path: "/a" }]],
  ])("that does not fit is refused: %j", (patch) => {
    expect(() => jsonPatch({ a: 1, l: [1] }, patch)).toThrow(expect.objectContaining({ code: 422 }));
  });
});

describe("a strategic merge patch", () => {
  it.each<[Json, Json, Json]>([
    [{ data: { a: "1" } }, { data: { a: null, b: "2" } }, { data: { b: "2" } }],
    [
      { containers: [{ name: "a", image: "1" }, { name: "b" }] },
      { containers: [{ name: "a", image: "2" }, { name: "c" }] },
      { containers: [{ name: "a", image: "2" }, { name: "c" }, { name: "b" }] },
    ],
    [
      { containers: [{ name: "a" }, { name: "b" }] },
      { containers: [{ name: "a", $patch: "delete" }] },
      { containers: [{ name: "b" }] },
    ],
    [
      { containers: [{ name: "a" }] },
      { containers: [{ $patch: "replace" }, { name: "b" }] },
      { containers: [{ name: "b" }] },
    ],
    [
      { ports: [{ port: 80, name: "x" }] },
      { ports: [{ port: 80, name: "y" }, { port: 81 }] },
      { ports: [{ port: 80, name: "y" }, { port: 81 }] },
    ],
    [
      { finalizers: ["a"] },
      { finalizers: ["b"], "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["b"] },
    ],
    [{ args: ["a"] }, { args: ["b"] }, { args: ["b"] }],
    [{ spec: { a: 1 } }, { spec: { $patch: "replace", b: 2 } }, { spec: { b: 2 } }],
    [
      { env: [{ name: "z" }, { name: "a" }, { name: "b" }] },
      {
        env: [{ name: "c" }, { name: "a" }, { $patch: "delete", name: "b" }],
        "$setElementOrder/env": [{ name: "c" }, { name: "a" }],
      },
      { env: [{ name: "z" }, { name: "c" }, { name: "a" }] },
    ],
  ])("of %j with %j is %j", (target, patch, result) => expect(strategicMerge(target, patch)).toEqual(result));
});

describe("content types", () => {
  it("are those of the kind: custom resources know no strategic merge", () => {
    const refused = (media: string): number => {
      try {
        patchFor(media, true);
        return 200;
      } catch (error) {
        return error instanceof ApiError ? error.code : 500;
      }
    };
    expect(
      [
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/json",
        "application/apply-patch+cbor",
      ].map(refused),
    ).toEqual([200, 415, 415, 415]);
  });
});
