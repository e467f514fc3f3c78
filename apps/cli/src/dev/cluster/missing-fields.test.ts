import { expect, it } from "vitest";
import { missingFields } from "./missing-fields.ts";

const crd = (openAPIV3Schema: object, name = "v1") => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "cups.example.com" },
  spec: { versions: [{ name: "v0" }, { name, schema: { openAPIV3Schema } }] },
});
const object = (properties: object) => ({ type: "object", properties });
const text = { type: "string" };
const missing = (wanted: object, there: object) => missingFields(crd(wanted), crd(there), "v1");

it("a field that the cluster's CRD lacks is named, without those below it", () => {
  const wanted = object({ spec: object({ size: text, handle: object({ side: text }) }), status: object({}) });
  expect(missing(wanted, wanted)).toEqual([]);
  expect(missing(wanted, object({ spec: object({ size: text }) }))).toEqual(["spec.handle", "status"]);
  expect(missing(object({ spec: object({}) }), wanted)).toEqual([]);
});

it("so are those of items and of the values of a map", () => {
  const wanted = object({
    list: { type: "array", items: object({ name: text, port: text }) },
    map: { type: "object", additionalProperties: object({ name: text }) },
  });
  const there = object({
    list: { type: "array", items: object({ name: text }) },
    map: { type: "object", additionalProperties: object({}) },
  });
  expect(missing(wanted, there)).toEqual(["list[].port", "map.*.name"]);
  expect(missing(wanted, object({ list: text, map: text }))).toEqual([]);
});

it("where the cluster keeps unknown fields, only those below a field that it has are dropped", () => {
  const wanted = object({ spec: object({ size: text, handle: object({ side: text }) }) });
  const keeps = { ...object({ handle: object({}) }), "x-kubernetes-preserve-unknown-fields": true };
  expect(missing(wanted, object({ spec: keeps }))).toEqual(["spec.handle.side"]);
});

it("what every object has is kept, also below a schema that does not have it", () => {
  const wanted = object({ apiVersion: text, kind: text, metadata: object({}), spec: object({ kind: text }) });
  expect(missing(wanted, object({ spec: object({}) }))).toEqual(["spec.kind"]);
});

it("none is missing where the cluster keeps unknown fields, in another version, or in what is no CRD", () => {
  const wanted = object({ spec: object({ size: text }) });
  const keeps = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  expect(missing(wanted, object({ spec: keeps }))).toEqual([]);
  expect(missingFields(crd(wanted), crd(object({}), "v2"), "v1")).toEqual([]);
  expect(missingFields(crd(wanted), { spec: { versions: "v1" } }, "v1")).toEqual([]);
});
