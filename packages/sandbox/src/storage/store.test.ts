import { describe, expect, it } from "vitest";
import { nameOf, versionOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { createStore } from "./store.ts";

const object = (name: string, mark = ""): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  mark,
});

describe("the store", () => {
  it("counts one version per change over all buckets", () => {
    const store = createStore(100);
    expect(
      [store.put("a", object("x")), store.put("b", object("x")), store.put("a", object("x"))].map(versionOf),
    ).toEqual(["1", "2", "3"]);
    store.remove("a", "", "x");
    store.remove("a", "", "x");
    expect(store.version).toBe(4);
  });

  it("knows every version of a bucket as long as its history reaches", () => {
    const store = createStore(100);
    const seen: (readonly KubeObject[])[] = [store.list("a").objects];
    const steps = [
      () => store.put("a", object("x", "1")),
      () => store.put("b", object("x")),
      () => store.put("a", object("y")),
      () => store.put("a", object("x", "2")),
      () => store.remove("a", "", "y"),
    ];
    for (const step of steps) {
      step();
      seen.push(store.list("a").objects);
    }
    for (const [version, objects] of seen.entries())
      expect(store.listAt("a", version)).toEqual({ version, objects });
    expect(store.listAt("a", steps.length + 1)).toBeUndefined();
    expect(store.changesSince("a", 3)?.map(({ type, version }) => [type, version])).toEqual([
      ["MODIFIED", 4],
      ["DELETED", 5],
    ]);
  });

  it("forgets what is older than its limit", () => {
    const store = createStore(4);
    for (let i = 0; i < 20; i += 1) store.put("a", object("x", String(i)));
    expect(store.compactedVersion).toBeGreaterThanOrEqual(15);
    expect(store.changesSince("a", store.compactedVersion)).toHaveLength(20 - store.compactedVersion);
    expect(store.changesSince("a", store.compactedVersion - 1)).toBeUndefined();
    store.compact();
    expect([store.compactedVersion, store.listAt("a", 20)?.objects.length, store.listAt("a", 19)]).toEqual([
      20,
      1,
      undefined,
    ]);
  });

  it("emits a listener's own change after the one that caused it, to all listeners", () => {
    const store = createStore(100);
    const received: string[] = [];
    store.subscribe("a", ({ object: { metadata } }) => {
      if (metadata["name"] === "first") store.put("a", object("second"));
    });
    store.subscribe("a", ({ object: changed }) => received.push(nameOf(changed)));
    store.put("a", object("first"));
    expect(received).toEqual(["first", "second"]);
  });

  it("emits nothing to a listener that has left", () => {
    const store = createStore(100);
    const received: string[] = [];
    const leave = store.subscribe("a", ({ type }) => received.push(type));
    store.put("a", object("x"));
    leave();
    store.put("a", object("x", "1"));
    expect(received).toEqual(["ADDED"]);
  });
});
