import { checkedAtRun, defineResource, type ReconcileContext } from "@drover/controller";
import { externalSpec, externalStatus } from "@drover/external";
import { z } from "zod";
import { bucketNameLength, bucketNamePattern, bucketNameProblem } from "./bucket-name.ts";
import { maxSpecTags, tagLimits, tagProblem } from "./s3/aws-tags.ts";
import { settingsSpec } from "./s3/settings/settings-of.ts";

const bucketName = z
  .string()
  .min(bucketNameLength.least)
  .max(bucketNameLength.most)
  .regex(bucketNamePattern, {
    error: (issue) => bucketNameProblem(String(issue.input)) ?? "Not a bucket name.",
  })
  .refine((name) => bucketNameProblem(name) === undefined, {
    error: (issue) => bucketNameProblem(String(issue.input)) ?? "Not a bucket name.",
    ...checkedAtRun,
  });

const tagSet = z.record(z.string(), z.string().max(tagLimits.valueLength));
const problemOfTags = (given: z.output<typeof tagSet>): string | undefined => {
  const entries = Object.entries(given);
  if (entries.length > maxSpecTags) {
    return `${entries.length} tags are too many: S3 takes ${tagLimits.tags}, and Drover needs ${tagLimits.tags - maxSpecTags} of them.`;
  }
  return entries.map(([key, value]) => tagProblem(key, value)).find((problem) => problem !== undefined);
};
const tags = tagSet.refine((given) => problemOfTags(given) === undefined, {
  error: (issue) => problemOfTags(tagSet.parse(issue.input)) ?? "Not tags.",
  ...checkedAtRun,
});

const spec = z.object({
  bucketName: bucketName
    .optional()
    .describe("The bucket's name. Default: <namespace>-<name>. It cannot be changed once the bucket exists."),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, "A region is written like eu-west-1.")
    .optional()
    .describe(
      "The bucket's region. Default: the function's own region. It cannot be changed once the bucket exists.",
    ),
  tags: tags
    .default({})
    .describe(
      "Tags of the bucket. Tags of others are left alone; a key that is removed here is removed from the bucket.",
    ),
  ...externalSpec("bucket", "Bucket"),
  emptyOnDelete: z
    .boolean()
    .default(false)
    .describe(
      "With onDelete: Delete, also delete everything in the bucket: objects, versions and unfinished uploads.",
    ),
  credentialsSecret: z
    .object({ name: z.string().min(1).max(253) })
    .optional()
    .describe(
      "A Secret in the same namespace with the keys accessKeyId, secretAccessKey and, where needed, sessionToken. " +
        "Default: the function's own AWS credentials.",
    ),
  ...settingsSpec,
  assumeRole: z
    .object({
      roleArn: z
        .string()
        .max(2048)
        .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@\/-]+$/, "Give a role's ARN."),
    })
    .optional()
    .describe(
      "An AWS role to act as, by the credentials of the Secret. By the function's own, only roles that its operator " +
        "allows in DROVER_S3_ROLES. The external id is the namespace of this object.",
    ),
  accountId: z
    .string()
    .regex(/^\d{12}$/, "An AWS account id has twelve digits.")
    .optional()
    .describe("Refuse to look at or touch a bucket of any other AWS account."),
});

const details = z.object({
  bucketName: z.string().optional(),
  arn: z.string().optional(),
  region: z.string().optional(),
});
const status = details.extend(externalStatus("bucket"));

/** The fields of the status that only buckets have. */
export type BucketDetails = z.output<typeof details>;

/**
 * A bucket on an S3 server.
 *
 * Two defaults are chosen so that leaving a field out never destroys anything: `onDelete: Retain` and
 * `emptyOnDelete: false`. The server's address is a setting of the process and not a field: otherwise every user that
 * may write objects could direct the function, and the Secrets that it reads, to any server.
 */
export const Bucket = defineResource({
  group: "s3.drover.dev",
  version: "v1alpha1",
  kind: "Bucket",
  scope: "Namespaced",
  shortNames: ["bkt"],
  categories: ["drover"],
  description: "A bucket on an S3 server, kept as its spec asks.",
  spec,
  status,
  printerColumns: [
    { name: "Bucket", type: "string", jsonPath: ".status.bucketName" },
    { name: "Region", type: "string", jsonPath: ".status.region" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "On delete", type: "string", jsonPath: ".spec.onDelete", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});

export type BucketContext = ReconcileContext<typeof Bucket>;
