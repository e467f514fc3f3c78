import { TerminalError } from "@drover/controller";
import { expect, it } from "vitest";
import { objectForCall } from "./object-for-call.ts";

const kind = { apiVersion: "example.com/v1", kind: "Greeting" };
const metadata = { name: "ada", uid: "u", resourceVersion: "7", labels: { a: "b" } };
const lastApplied = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
const shown = (more: object, fields: object = {}) =>
  objectForCall(kind, { ...fields, metadata: { ...metadata, ...more } });

it("leaves out what only the API server and kubectl use", () => {
  const object = shown(
    { managedFields: [{ manager: "kubectl" }], annotations: { ...lastApplied, note: "kept" } },
    { spec: { name: "Ada" }, status: { text: "hi" } },
  );
  expect(object).toEqual({
    ...kind,
    spec: { name: "Ada" },
    status: { text: "hi" },
    metadata: { ...metadata, annotations: { note: "kept" } },
  });
});

it.each([
  ["has none", {}],
  ["has none of its own", { annotations: lastApplied }],
  ["has an empty list", { annotations: {} }],
])("has no annotations where the object %s", (_, more) => {
  expect(shown(more)).toEqual({ ...kind, metadata });
});

it("has the kind that was declared, where a list has left it out", () => {
  expect(shown({}, { kind: undefined, apiVersion: undefined })).toMatchObject(kind);
});

it("never shows a Secret, whatever its kind was declared as", () => {
  expect(() => shown({}, { apiVersion: "v1", kind: "Secret", data: { a: "YQ==" } })).toThrow(TerminalError);
});
