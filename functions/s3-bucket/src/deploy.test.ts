import { customResourceDefinition, functionManifestOf } from "@drover/controller";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { Bucket } from "./bucket.ts";
import bucketFunction from "./function.ts";

// The files in deploy/ are written from the code: `npx vitest run -u functions/s3-bucket/src/deploy.test.ts`.
const written = "# Written from the code; see src/deploy.test.ts.\n";

it("deploy/crd.yaml is what the schema says", async () => {
  await expect(written + stringify(customResourceDefinition(Bucket), { lineWidth: 110 })).toMatchFileSnapshot(
    "../deploy/crd.yaml",
  );
});

it("deploy/function.yaml is what the function says", async () => {
  await expect(
    written + stringify(functionManifestOf(bucketFunction), { lineWidth: 110 }),
  ).toMatchFileSnapshot("../deploy/function.yaml");
});
