import { objectKey } from "@drover/controller";
import { fingerprint, type ObjectEvent, type ResourceRef } from "@drover/kube";
import { describe, expect, it } from "vitest";
import { wakesOf } from "./wakes-of.ts";

const ref = (plural: string, kind: string): ResourceRef => ({
  group: "s3.drover.dev",
  version: "v1",
  plural,
  kind,
  namespaced: true,
});
const buckets = ref("buckets", "Bucket");
const metadata = { name: "photos", namespace: "default", uid: "u1", resourceVersion: "7", generation: 1 };
const key = objectKey({ namespace: "default", name: "photos" });
const event = (fields: Partial<ObjectEvent>, object = metadata): ObjectEvent => ({
  type: "added",
  key,
  object,
  fingerprint: fingerprint(object),
  ...fields,
});
const seen = (object = metadata) => ({ key, object, fingerprint: fingerprint(object) });
const own = { map: "for", ref: buckets } as const;

describe("what wakes a controller's own object", () => {
  it("is its coming, its change, and its end, with the version to be at least as new as", () => {
    const changed = { ...metadata, resourceVersion: "8", generation: 2 };
    expect(wakesOf(event({ type: "modified", previous: seen() }, changed), own)).toEqual([
      {
        key,
        kind: "buckets.s3.drover.dev",
        resourceVersion: "8",
        uid: "u1",
        reason: "Modified",
        class: "change",
      },
    ]);
    expect(wakesOf(event({ type: "deleted" }), own)).toMatchObject([{ reason: "Deleted", class: "change" }]);
    expect(wakesOf(event({ type: "listed" }), own)).toMatchObject([{ reason: "Listed", class: "listing" }]);
  });
  it("is not a change of its status alone", () => {
    const stated = { ...metadata, resourceVersion: "8" };
    expect(wakesOf(event({ type: "modified", previous: seen() }, stated), own)).toEqual([]);
  });
  it("is not a bookmark, and not the end of a listing", () => {
    expect(wakesOf({ type: "position", resourceVersion: "9" }, own)).toEqual([]);
    expect(wakesOf({ type: "synced", resourceVersion: "9" }, own)).toEqual([]);
  });
});

it("an owned object's status wakes its owner, without a uid: the event is not about the owner", () => {
  const owner = {
    apiVersion: "s3.drover.dev/v1",
    kind: "Bucket",
    name: "album",
    uid: "o1",
    controller: true,
  };
  const child = { ...metadata, ownerReferences: [owner] };
  const stated = { ...child, resourceVersion: "8" };
  const subscription = { map: "owner", ref: ref("parts", "Part"), owner: buckets } as const;
  expect(wakesOf(event({ type: "modified", previous: seen(child) }, stated), subscription)).toEqual([
    {
      key: "default/album",
      kind: "parts.s3.drover.dev",
      resourceVersion: "8",
      reason: "Modified",
      class: "change",
    },
  ]);
});
