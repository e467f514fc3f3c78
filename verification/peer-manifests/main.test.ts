import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { folderOfTest } from "../../packages/testing/src/folder.fixture.ts";

/* The command, as a user runs it. */
const main = join(import.meta.dirname, "main.ts");
const run = (...files: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [main, ...files], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
const file = (name: string, manifest: object): string => {
  const path = join(folderOfTest(), name);
  writeFileSync(path, stringify(manifest));
  return path;
};
const part = (kind: string, fields: object) => ({
  apiVersion: "s3.aws.upbound.io/v1beta2",
  kind,
  metadata: { name: "photos" },
  spec: { forProvider: fields },
});

test("reads all files together, and writes manifests and warnings apart", async () => {
  const bucket = file("bucket.yaml", part("Bucket", { region: "eu-west-1", later: 1 }));
  const acl = file("acl.yaml", part("BucketACL", { bucketRef: { name: "photos" }, acl: "private" }));
  const { code, stdout, stderr } = await run(acl, bucket);
  expect(code).toBe(0);
  expect(parse(stdout)).toMatchObject({ kind: "Bucket", spec: { acl: { canned: "private" } } });
  expect(stderr).toBe(
    "warning: Bucket photos, spec.forProvider.later: Drover's Bucket has no such field. The field is left out\n",
  );
});

test("exits with 1 if an object is not translated, and writes the others", async () => {
  const bucket = file("bucket.yaml", part("Bucket", { region: "eu-west-1" }));
  const other = file("other.yaml", part("BucketObject", {}));
  const { code, stdout, stderr } = await run(bucket, other);
  expect(code).toBe(1);
  expect(parse(stdout)).toMatchObject({ metadata: { name: "photos" } });
  expect(stderr).toContain("error: BucketObject photos: Drover's Bucket has no such setting.");
});
