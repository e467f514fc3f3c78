import { expect, test } from "vitest";
import { ApiError } from "../errors.ts";
import { fieldConflicts } from "../field-conflicts.ts";
import { managedFieldsOf } from "./managed-fields.ts";
import { bucketObject } from "../testing/objects.ts";

const withFields = (managedFields: unknown) => {
  const { metadata, ...rest } = bucketObject("a");
  return { ...rest, metadata: { ...metadata, managedFields } };
};

test("the paths of managed fields are those of the API server's conflicts", () => {
  const fieldsV1 = {
    "f:metadata": { "f:finalizers": { ".": {}, 'v:"example.com/a"': {} }, "f:labels": { "f:a.b/c": {} } },
    "f:spec": {
      "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:name": {} } },
      "f:tuple": { "i:0": {} },
      "f:template": {},
    },
  };
  const [entry, ...others] = managedFieldsOf(
    withFields([
      { manager: "m", operation: "Update", apiVersion: "v1", time: "2026-01-02T03:04:05Z", fieldsV1 },
    ]),
  );
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    manager: "m",
    operation: "Update",
    subresource: "",
    time: "2026-01-02T03:04:05Z",
  });
  expect([...(entry?.fields ?? [])]).toEqual([
    ".metadata.finalizers",
    '.metadata.finalizers["example.com/a"]',
    ".metadata.labels.a.b/c",
    '.spec.ports[containerPort=80,protocol="TCP"]',
    '.spec.ports[containerPort=80,protocol="TCP"].name',
    ".spec.tuple[0]",
    ".spec.template",
  ]);
});

test("an object that was read without managed fields has none, and others are refused", () => {
  expect(managedFieldsOf(bucketObject("a"))).toEqual([]);
  expect(() => managedFieldsOf(withFields([{ operation: "Apply" }]))).toThrow(/manager/);
});

const conflict = (causes: unknown) =>
  new ApiError({
    kind: "Conflict",
    status: 409,
    reason: "Conflict",
    serverMessage: "",
    request: "PATCH /",
    details: { name: "a", causes },
  });

test.each([
  ['conflict with "kubectl edit" using v1 at 2026-01-02T03:04:05Z', "kubectl edit"],
  [String.raw`conflict with "a \"quoted\" one" with subresource "status"`, 'a "quoted" one'],
  [String.raw`conflict with "bell\a"`, String.raw`"bell\a"`],
  ["something else", ""],
])("the manager in the message %j is %j", (message, manager) => {
  const causes = [
    { reason: "FieldManagerConflict", field: ".spec.a", message },
    { reason: "Other", field: ".spec.b", message },
  ];
  expect(fieldConflicts(conflict(causes))).toEqual([{ manager, field: ".spec.a" }]);
});

test("conflicts are sorted by field and manager", () => {
  const [c, b, a] = [".spec.b m", ".spec.a n", ".spec.a m"].map((text) => {
    const [field, manager] = text.split(" ");
    return { reason: "FieldManagerConflict", field, message: `conflict with "${manager}"` };
  });
  const texts = fieldConflicts(conflict([c, b, a])).map(({ field, manager }) => `${field} ${manager}`);
  expect(texts).toEqual([".spec.a m", ".spec.a n", ".spec.b m"]);
});

test.each([undefined, null, [], [null], "text"])("causes %j are no conflicts of fields", (causes) => {
  expect(fieldConflicts(conflict(causes))).toEqual([]);
});
