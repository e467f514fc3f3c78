import {
  DeleteBucketOwnershipControlsCommand,
  GetBucketOwnershipControlsCommand,
  PutBucketOwnershipControlsCommand,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";

export const ownershipControlsSpec = z
  .object({
    rules: z
      .array(
        z.object({
          objectOwnership: z
            .enum(["BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"])
            .describe("With BucketOwnerEnforced there are no ACLs: policies alone define who has access."),
        }),
      )
      .length(1),
  })
  .describe(
    "Who owns the objects that other accounts upload. Left out: not changed, or deleted if this object has written it; " +
      "then the uploading account owns them, and ACLs apply.",
  );
type OwnershipControls = z.output<typeof ownershipControlsSpec>;

/** True if the bucket is to have no access control list but its owner's. */
export const isEnforced = (wanted: OwnershipControls | undefined): boolean =>
  wanted?.rules[0]?.objectOwnership === "BucketOwnerEnforced";

export const ownershipControls = (call: BucketCall, wanted: OwnershipControls | undefined) =>
  valueSetting(call, {
    name: "ownershipControls",
    wanted,
    read: async ({ client, bucket, http }) =>
      (await client.send(new GetBucketOwnershipControlsCommand(bucket), http)).OwnershipControls,
    absent: "OwnershipControlsNotFoundError",
    write: ({ client, bucket, http }, value) =>
      client.send(
        new PutBucketOwnershipControlsCommand({ ...bucket, OwnershipControls: toApi(value) }),
        http,
      ),
    remove: ({ client, bucket, http }) => client.send(new DeleteBucketOwnershipControlsCommand(bucket), http),
  });
