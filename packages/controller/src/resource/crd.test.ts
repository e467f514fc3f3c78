import { describe, expect, it } from "vitest";
import { z } from "zod";
import { customResourceDefinition } from "./crd.ts";
import { defineResource, type ResourceDefinition } from "./resource.ts";
import { InvalidSchemaError } from "../structural/invalid-schema.ts";
import { brokenRules } from "../structural/structural-rules.fixture.ts";

type Definition = ResourceDefinition<z.ZodObject, z.ZodObject>;
const definition: Definition = {
  group: "s3.example.com",
  version: "v1alpha1",
  kind: "Bucket",
  scope: "Namespaced",
  description: "A bucket.",
  spec: z.object({ region: z.string() }).describe("What is wanted."),
  status: z.object({ arn: z.string(), parts: z.object({ id: z.string() }) }),
};
const crdOf = (more: Partial<Definition> = {}) =>
  customResourceDefinition(defineResource({ ...definition, ...more }));
const versionOf = (more?: Partial<Definition>) => crdOf(more).spec.versions[0];
const schemaOf = (more?: Partial<Definition>) => versionOf(more).schema.openAPIV3Schema;

describe("a CustomResourceDefinition", () => {
  it("has the resource's names, and one version that is served and stored", () => {
    const crd = crdOf({ shortNames: ["bkt"], categories: ["storage"], plural: "buckets" });
    expect(crd).toMatchObject({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "buckets.s3.example.com" },
      spec: {
        group: "s3.example.com",
        scope: "Namespaced",
        names: {
          plural: "buckets",
          singular: "bucket",
          kind: "Bucket",
          listKind: "BucketList",
          shortNames: ["bkt"],
          categories: ["storage"],
        },
        versions: [{ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } }],
      },
    });
    expect(crdOf({ scope: "Cluster" }).spec).toMatchObject({ scope: "Cluster" });
    expect(crdOf().spec.names).not.toHaveProperty("shortNames");
  });

  it("is plain JSON, and the same each time", () => {
    const resource = defineResource(definition);
    const crd = customResourceDefinition(resource);
    expect(JSON.parse(JSON.stringify(crd))).toStrictEqual(crd);
    expect(customResourceDefinition(resource)).toEqual(crd);
    expect(brokenRules(crd.spec.versions[0].schema.openAPIV3Schema)).toEqual([]);
  });

  it("requires a spec, and has descriptions", () => {
    expect(schemaOf()).toMatchObject({
      type: "object",
      description: "A bucket.",
      required: ["spec"],
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { type: "object" },
        spec: { type: "object", description: "What is wanted.", required: ["region"] },
      },
    });
  });

  it("has an optional status field by field, with complete objects in it", () => {
    const status = schemaOf().properties?.["status"];
    expect(status).not.toHaveProperty("required");
    expect(status?.properties?.["parts"]).toMatchObject({ required: ["id"] });
  });

  it("has the runtime's own status fields", () => {
    expect(schemaOf({ status: z.object({}) }).properties?.["status"]).toMatchObject({
      type: "object",
      properties: {
        observedGeneration: { type: "integer", format: "int64" },
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: {
            required: ["lastTransitionTime", "message", "reason", "status", "type"],
            properties: {
              status: { enum: ["True", "False", "Unknown"] },
              message: { maxLength: 32768 },
              reason: { minLength: 1, maxLength: 1024 },
              lastTransitionTime: { format: "date-time" },
            },
          },
        },
      },
    });
  });

  it("shows Ready, Reason and Age after the author's columns", () => {
    const region = { name: "Region", type: "string", jsonPath: ".spec.region" } as const;
    const columns = versionOf({ printerColumns: [region] }).additionalPrinterColumns;
    expect(columns.map(({ name, priority = 0 }) => [name, priority])).toEqual([
      ["Region", 0],
      ["Ready", 0],
      ["Reason", 1],
      ["Age", 0],
    ]);
    const own = { name: "age", type: "string", jsonPath: ".status.age" } as const;
    expect(versionOf({ printerColumns: [own] }).additionalPrinterColumns.map(({ name }) => name)).toEqual([
      "age",
      "Ready",
      "Reason",
    ]);
  });

  it("is refused with the path and the alternative", () => {
    const spec = z.object({ lifecycle: z.array(z.object({ when: z.tuple([z.string()]) })) });
    expect(() => crdOf({ spec })).toThrow(
      'Resource "Bucket": spec.lifecycle[].when: a tuple has no structural form; use an object or a list',
    );
  });

  it("is refused with every problem", () => {
    const status = z.object({ at: z.date(), conditions: z.array(z.string()), observedGeneration: z.int() });
    try {
      crdOf({ spec: z.object({ a: z.map(z.string(), z.string()) }), status });
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof InvalidSchemaError)) throw error;
      expect(error.problems.map(({ path }) => path)).toEqual([
        "spec.a",
        "status.at",
        "status.observedGeneration",
        "status.conditions",
      ]);
      expect(error.message.split("\n")).toHaveLength(5);
      expect(error.message).toContain("status.conditions: the runtime writes this field; use another name");
    }
  });
});
