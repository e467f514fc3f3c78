import { runFunction } from "@drover/runtime";
import { bucketController } from "./bucket-controller.ts";
import { functionConfig } from "./config.ts";
import { s3BucketPorts } from "./s3/s3-bucket-port.ts";

await runFunction({
  name: "s3-bucket",
  settings: functionConfig,
  controller: (settings) => {
    const ports = s3BucketPorts(settings);
    return { controller: bucketController(ports), close: () => ports.close() };
  },
});
