import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readRegistrations } from "./registrations.ts";

const bucket = `
apiVersion: drover.dev/v1alpha1
kind: ReconcileFunction
metadata:
  name: buckets.s3.drover.dev
spec:
  for: { group: s3.drover.dev, version: v1alpha1, kind: Bucket, plural: buckets, scope: Namespaced }
`;
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "drover-registrations-"))));
afterEach(() => rmSync(folder, { recursive: true }));
const read = (files: Record<string, string>, path = folder) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return () => readRegistrations(path);
};

it("reads every ReconcileFunction of a folder, past other kinds", () => {
  const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";
  expect(
    read({ "a.yaml": `${bucket}---\n${bucket.replace("buckets.s3", "other.s3")}`, "crd.yml": crd })(),
  ).toEqual(
    ["buckets.s3.drover.dev", "other.s3.drover.dev"].map((controller) => ({
      controller,
      for: {
        group: "s3.drover.dev",
        version: "v1alpha1",
        kind: "Bucket",
        plural: "buckets",
        namespaced: true,
      },
    })),
  );
});

it("refuses a controller that is registered twice, naming both files", () => {
  expect(read({ "a.yaml": bucket, "b.yaml": bucket })).toThrow(
    /b\.yaml: .*registered in .*a\.yaml already. Rename/,
  );
});

it.each([
  [
    "a field it does not know",
    bucket.replace("plural", "plurals"),
    /spec\.for\.plurals is not known\. Did you mean plural\?/,
  ],
  ["a top-level field it does not know", `${bucket}specs: {}\n`, /specs is not known\. Did you mean spec\?/],
  ["a scope that there is not", bucket.replace("Namespaced", "Global"), /spec\.for\.scope/],
  ["another version of itself", bucket.replace("v1alpha1\nkind", "v2\nkind"), /apiVersion/],
  ["what is not YAML", "a: b: c", /not YAML/],
  ["an empty file", "", /no ReconcileFunction in it/],
])("refuses %s", (_what, text, message) => {
  expect(read({ "a.yaml": text })).toThrow(message);
});

it("refuses a path where nothing is", () => {
  expect(read({}, join(folder, "none"))).toThrow(/no such file or folder/);
});
