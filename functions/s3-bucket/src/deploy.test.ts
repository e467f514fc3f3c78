import { customResourceDefinition, defineFunction, functionManifestOf } from "@drover/controller";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { Bucket } from "./bucket.ts";
import bucketFunction from "./function.ts";

// The files in deploy/ are written from the code: `npx vitest run functions/s3-bucket/src/deploy.test.ts --update`.
const written = "# Written from the code; see src/deploy.test.ts.\n";

it("deploy/crd.yaml matches the schema", async () => {
  await expect(written + stringify(customResourceDefinition(Bucket), { lineWidth: 110 })).toMatchFileSnapshot(
    "../deploy/crd.yaml",
  );
});

it("deploy/namespaced/function.yaml is the same for the objects and Secrets of one namespace", async () => {
  const namespace = "storage";
  const { controller } = bucketFunction;
  const own = { ...controller, only: { ...controller.only, namespaces: [namespace] } };
  const manifest = functionManifestOf(defineFunction({ ...bucketFunction, controller: own, namespace }));
  // All of it is in the Role of its namespace.
  expect(manifest.spec.permissions?.cluster).toBeUndefined();
  await expect(
    `${written}# In place of function.yaml, for one namespace: change its name in both places. The function reads no Secrets but there.\n${stringify(manifest, { lineWidth: 110 })}`,
  ).toMatchFileSnapshot("../deploy/namespaced/function.yaml");
});

it("deploy/function.yaml matches the function", async () => {
  await expect(
    written + stringify(functionManifestOf(bucketFunction), { lineWidth: 110 }),
  ).toMatchFileSnapshot("../deploy/function.yaml");
});

it("docs/external-resources.md has the event pattern of deploy/drift-at-once", () => {
  const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const [, shown = ""] = /```json\n(.*?)```/s.exec(textOf("../../../docs/external-resources.md")) ?? [];
  expect(JSON.parse(shown)).toEqual(JSON.parse(textOf("../deploy/drift-at-once/event-pattern.json")));
});
