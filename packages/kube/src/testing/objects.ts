import type { ResourceRef } from "../objects/resource-ref.ts";

/** The kind that these tests are about. */
export const bucketRef: ResourceRef = {
  group: "s3.example.com",
  version: "v1",
  plural: "buckets",
  kind: "Bucket",
  namespaced: true,
};

/** A bucket as the server sends it. */
export const bucketObject = (name: string, metadata: object = {}) => ({
  apiVersion: "s3.example.com/v1",
  kind: "Bucket",
  metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion: "1", ...metadata },
});

/** A page of buckets as the server sends it. */
export const bucketList = (items: readonly object[], metadata: object = {}) => ({
  apiVersion: "s3.example.com/v1",
  kind: "BucketList",
  metadata: { resourceVersion: "1", ...metadata },
  items,
});
