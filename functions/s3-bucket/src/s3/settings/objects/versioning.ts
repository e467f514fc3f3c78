import { GetBucketVersioningCommand, PutBucketVersioningCommand } from "@aws-sdk/client-s3";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { valueSetting } from "../bucket-setting.ts";

export const versioningSpec = z
  .enum(["Enabled", "Suspended"])
  .describe("Left out: versioning is not changed, or suspended if this object has written it.");

type Versioning = z.output<typeof versioningSpec>;

export const versioning = (call: BucketCall, wanted: Versioning | undefined) =>
  valueSetting(call, {
    name: "versioning",
    wanted,
    read: async ({ client, bucket, http }) =>
      (await client.send(new GetBucketVersioningCommand(bucket), http)).Status,
    write: put,
    // Versioning that was once enabled can only be suspended.
    remove: (to) => put(to, "Suspended"),
    removedAs: "Suspended",
  });

const put = ({ client, bucket, http }: BucketCall, Status: Versioning) =>
  client.send(new PutBucketVersioningCommand({ ...bucket, VersioningConfiguration: { Status } }), http);
