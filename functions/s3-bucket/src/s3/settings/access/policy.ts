import {
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  PutBucketPolicyCommand,
} from "@aws-sdk/client-s3";
import { checkedAtRun } from "@drover/controller";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { valueSetting } from "../bucket-setting.ts";
import { canonicalPolicy, policyProblem } from "./policy-document.ts";

// ConfirmRemoveSelfBucketAccess is left out: a policy that locks Drover out could not be corrected by it.
export const policySpec = z
  .string()
  .max(20_480)
  .refine((text) => policyProblem(text) === undefined, {
    error: (issue) => policyProblem(String(issue.input)) ?? "Not a policy.",
    ...checkedAtRun,
  })
  .describe(
    "The bucket's policy, a JSON document as text. The order and the spelling of its parts do not matter.",
  );

export const policy = (call: BucketCall, wanted: z.output<typeof policySpec> | undefined) =>
  valueSetting(call, {
    name: "policy",
    wanted,
    read: async ({ client, bucket, http }) =>
      (await client.send(new GetBucketPolicyCommand(bucket), http)).Policy,
    absent: "NoSuchBucketPolicy",
    write: ({ client, bucket, http }, Policy) =>
      client.send(new PutBucketPolicyCommand({ ...bucket, Policy }), http),
    remove: ({ client, bucket, http }) => client.send(new DeleteBucketPolicyCommand(bucket), http),
    canonical: canonicalPolicy,
  });
