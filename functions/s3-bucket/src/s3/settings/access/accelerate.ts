import {
  GetBucketAccelerateConfigurationCommand,
  PutBucketAccelerateConfigurationCommand,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";

export const accelerateSpec = z
  .object({ status: z.enum(["Enabled", "Suspended"]) })
  .describe("Faster transfers over long distances. Not for bucket names with dots.");
type Accelerate = z.output<typeof accelerateSpec>;

const suspended = { status: "Suspended" } as const;

export const accelerate = (call: BucketCall, wanted: Accelerate | undefined) =>
  valueSetting(call, {
    name: "accelerate",
    wanted,
    async read({ client, bucket, http }) {
      const { Status } = await client.send(new GetBucketAccelerateConfigurationCommand(bucket), http);
      // A bucket that was never accelerated has no status.
      return { Status: Status ?? suspended.status };
    },
    write: put,
    // There is no request that deletes it.
    remove: (to) => put(to, suspended),
    removedAs: suspended,
  });

const put = ({ client, bucket, http }: BucketCall, value: Accelerate) =>
  client.send(
    new PutBucketAccelerateConfigurationCommand({ ...bucket, AccelerateConfiguration: toApi(value) }),
    http,
  );
