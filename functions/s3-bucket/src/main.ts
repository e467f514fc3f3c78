import { runFunction } from "@drover/runtime";
import { bucketController } from "./bucket-controller.ts";
import { functionConfig } from "./config.ts";
import { s3BucketStores } from "./s3/s3-bucket-store.ts";

await runFunction({
  name: "s3-bucket",
  settings: functionConfig,
  controller: (settings) => {
    const stores = s3BucketStores(settings);
    return { controller: bucketController(stores), close: () => stores.close() };
  },
});
