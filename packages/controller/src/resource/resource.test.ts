import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineResource, InvalidResourceError, type ResourceDefinition } from "./resource.ts";

type Definition = ResourceDefinition<z.ZodObject, z.ZodObject>;
const bucket: Definition = {
  group: "s3.example.com",
  version: "v1alpha1",
  kind: "Bucket",
  scope: "Namespaced",
  spec: z.object({}),
  status: z.object({}),
};

describe("a resource", () => {
  it("derives its names from the kind", () => {
    expect(defineResource(bucket)).toMatchObject({
      singular: "bucket",
      plural: "buckets",
      apiVersion: "s3.example.com/v1alpha1",
    });
    expect(defineResource({ ...bucket, kind: "Policy", plural: "policies" }).plural).toBe("policies");
  });

  it.each([
    ["Policy", "policies"],
    ["Gateway", "gateways"],
    ["Class", "classes"],
    ["Box", "boxes"],
    ["Patch", "patches"],
    ["Mesh", "meshes"],
    ["Cup", "cups"],
  ])("of the kind %s has the plural %s", (kind, plural) => {
    expect(defineResource({ ...bucket, kind }).plural).toBe(plural);
  });

  it.each<[Partial<Definition>, string]>([
    [{ group: "s3" }, 'a DNS name such as "s3.example.com"'],
    [{ group: "S3.example.com" }, "a DNS name"],
    [{ group: "" }, "a DNS name"],
    [{ group: "apps.k8s.io" }, "take a domain of your own"],
    [{ version: "1" }, 'not like "v1"'],
    [{ version: "v1.2" }, 'not like "v1"'],
    [{ version: "v0" }, 'not like "v1"'],
    [{ kind: "bucket" }, "CamelCase"],
    [{ kind: "Вucket" }, "CamelCase"], // a Cyrillic В
    [{ kind: "__proto__" }, "CamelCase"],
    [{ kind: `A${"b".repeat(63)}` }, "at most 63"],
    [{ plural: "Buckets" }, '"Buckets" is not a plural'],
    [{ plural: "" }, "lower-case letters"],
    [{ shortNames: ["b", "b c"] }, '"b c" is not a plural, short name'],
    [{ categories: ["all", "Ä"] }, '"Ä"'],
    [{ printerColumns: [{ name: "Region", type: "string", jsonPath: "spec.region" }] }, '".spec.region"'],
    [{ printerColumns: [{ name: "", type: "string", jsonPath: ".spec" }] }, "give it a name"],
  ])("is refused with %j", (names, advice) => {
    expect(() => defineResource({ ...bucket, ...names })).toThrow(InvalidResourceError);
    expect(() => defineResource({ ...bucket, ...names })).toThrow(advice);
  });
});
