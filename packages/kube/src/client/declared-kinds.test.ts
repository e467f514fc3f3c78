import { objectKey } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { MalformedReplyError } from "../errors.ts";
import {
  builtin,
  collectionPath,
  InvalidSegmentError,
  objectPath,
  type ResourceRef,
} from "../objects/resource-ref.ts";
import { cachedObjectText } from "../cache/cached-object.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { jsonReply } from "../testing/scripted-server.ts";

// The text of a kind comes from a declaration of an untrusted author.
const maps = builtin.configMap;
const metadata = { name: "db-root", namespace: "payroll", uid: "1", resourceVersion: "5" };
const data = { password: "c2VjcmV0" };
const secrets = {
  apiVersion: "v1",
  kind: "SecretList",
  metadata: { resourceVersion: "9" },
  items: [{ metadata, data }],
};

const metadataList = (...items: readonly object[]) => ({
  ...secrets,
  apiVersion: "meta.k8s.io/v1",
  kind: "PartialObjectMetadataList",
  items,
});

describe("the path of a declared kind", () => {
  test.each<[Partial<ResourceRef>, string]>([
    [{ version: "v1/secrets?x=" }, "/api/v1%2Fsecrets%3Fx%3D/configmaps"],
    [{ version: "v1/secrets?watch=true&x=" }, "/api/v1%2Fsecrets%3Fwatch%3Dtrue%26x%3D/configmaps"],
    [{ plural: "secrets#" }, "/api/v1/secrets%23"],
    [{ plural: "configmaps/../secrets" }, "/api/v1/configmaps%2F..%2Fsecrets"],
    [{ group: "apps/v1/namespaces" }, "/apis/apps%2Fv1%2Fnamespaces/v1/configmaps"],
    [{ plural: "configmaps\r\nX-Remote-User: admin" }, "/api/v1/configmaps%0D%0AX-Remote-User%3A%20admin"],
  ])("keeps %j inside its segment", (declared, path) => {
    expect(collectionPath({ ...maps, ...declared })).toBe(path);
  });

  test.each<Partial<ResourceRef>>([
    { group: ".." },
    { version: ".." },
    { version: "" },
    { plural: "." },
    { plural: "" },
  ])("is refused for %j, which a server may resolve to another path", (declared) => {
    expect(() => collectionPath({ ...maps, ...declared })).toThrow(InvalidSegmentError);
  });

  test("keeps namespace and subresource inside their segments, too", () => {
    expect(collectionPath(maps, "a/secrets?")).toBe("/api/v1/namespaces/a%2Fsecrets%3F/configmaps");
    expect(() => collectionPath(maps, "..")).toThrow(InvalidSegmentError);
    const key = objectKey({ namespace: "a", name: "b" });
    expect(objectPath(maps, key, "exec?stdin=1")).toBe("/api/v1/namespaces/a/configmaps/b/exec%3Fstdin%3D1");
  });
});

const listed = async (answer: object, options: { readonly metadataOnly?: boolean } = {}) =>
  (await scriptedClient(jsonReply(answer))).client.list(maps, options);

describe("an answer is refused", () => {
  test("if it lists another kind than the declared one", async () => {
    await expect(listed(secrets)).rejects.toThrow("it sent v1 Secret instead of v1 ConfigMap");
    await expect(listed({ ...secrets, kind: "PartialObjectMetadataList" })).rejects.toThrow(
      MalformedReplyError,
    );
    const other = { ...secrets, kind: "ConfigMapList", apiVersion: "v2" };
    await expect(listed(other)).rejects.toThrow("it sent v2 ConfigMapList instead of v1 ConfigMapList");
  });

  test("if one item of a list is of another kind", async () => {
    const item = { apiVersion: "v1", kind: "Secret", metadata, data };
    await expect(listed({ ...secrets, kind: "ConfigMapList", items: [item] })).rejects.toThrow(
      "it sent v1 Secret instead of v1 ConfigMap",
    );
  });

  test("if it has only metadata and whole objects were requested", async () => {
    const partial = metadataList({ metadata });
    await expect(listed(partial)).rejects.toThrow(MalformedReplyError);
    expect((await listed(partial, { metadataOnly: true })).items).toHaveLength(1);
    const one = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata };
    const { client } = await scriptedClient(jsonReply(one));
    const key = objectKey({ namespace: "payroll", name: "db-root" });
    await expect(client.get(maps, key)).rejects.toThrow(MalformedReplyError);
  });

  test("if metadata are of another API", async () => {
    const list = metadataList({ apiVersion: "evil.example.com/v1", kind: "PartialObjectMetadata", metadata });
    await expect(listed(list, { metadataOnly: true })).rejects.toThrow(MalformedReplyError);
  });
});

test("a list kind with another name is accepted by the kinds of its items", async () => {
  const item = { apiVersion: "v1", kind: "ConfigMap", metadata };
  const { items } = await listed({ ...secrets, kind: "MapsList", items: [item] });
  expect(items).toEqual([item]);
});

test("no Secret is cached, by the kind in the API server's answer", () => {
  expect(cachedObjectText({ apiVersion: "v1", kind: "Secret", metadata, data })).toBeUndefined();
  expect(cachedObjectText({ apiVersion: "v1", kind: "ConfigMap", metadata, data })).toContain("c2VjcmV0");
});
