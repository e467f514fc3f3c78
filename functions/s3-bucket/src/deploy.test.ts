import { customResourceDefinition, reconcileFunctionOf } from "@drover/controller";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { Bucket } from "./bucket.ts";
import { bucketController } from "./bucket-controller.ts";
import { s3ConfigSchema } from "./config.ts";
import { s3BucketStores } from "./s3-bucket-store.ts";

// The files in deploy/ are written from the code: `npx vitest run -u functions/s3-bucket/src/deploy.test.ts`.
const written = "# Written from the code; see src/deploy.test.ts.\n";

it("deploy/crd.yaml is what the schema says", async () => {
  await expect(written + stringify(customResourceDefinition(Bucket), { lineWidth: 110 })).toMatchFileSnapshot(
    "../deploy/crd.yaml",
  );
});

it("deploy/function.yaml is what the controller says", async () => {
  const stores = s3BucketStores(s3ConfigSchema.parse({}));
  const manifest = reconcileFunctionOf(bucketController(stores));
  stores.close();
  await expect(written + stringify(manifest, { lineWidth: 110 })).toMatchFileSnapshot(
    "../deploy/function.yaml",
  );
});
