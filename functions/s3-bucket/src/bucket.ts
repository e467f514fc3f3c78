import { checkedAtRun, defineResource, type ReconcileContext } from "@drover/controller";
import { credentialsSpec, regionSpec, tagsSpec } from "@drover/aws";
import { externalSpec, externalStatus } from "@drover/external";
import { z } from "zod";
import { bucketNameLength, bucketNamePattern, bucketNameProblem } from "./bucket-name.ts";
import { settingsSpec } from "./s3/settings/settings-of.ts";

/** The setting with the roles that objects may name without keys of their own. */
export const rolesVariable = "DROVER_S3_ROLES";

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

const fields = z.object({
  bucketName: bucketName
    .optional()
    .describe("The bucket's name. Default: <namespace>-<name>. It cannot be changed once the bucket exists."),
  region: regionSpec("bucket"),
  tags: tagsSpec("bucket"),
  ...externalSpec("bucket", "Bucket"),
  emptyOnDelete: z
    .boolean()
    .default(false)
    .describe(
      "With onDelete: Delete, also delete everything in the bucket: objects, versions and unfinished uploads.",
    ),
  ...settingsSpec,
  ...credentialsSpec(rolesVariable),
  accountId: z
    .string()
    .regex(/^\d{12}$/, "An AWS account id has twelve digits.")
    .optional()
    .describe("Refuse to look at or touch a bucket of any other AWS account."),
});

const lockProblem = {
  message:
    "objectLockConfiguration enables object lock, and objectLockEnabledForBucket is false; remove one of them",
  path: "objectLockEnabledForBucket",
};
const spec = fields
  .refine(
    (value) => value.objectLockConfiguration === undefined || value.objectLockEnabledForBucket !== false,
    {
      error: lockProblem.message,
      path: [lockProblem.path],
      ...checkedAtRun,
    },
  )
  .meta({
    kubernetes: {
      cel: [
        {
          rule: "!has(self.objectLockConfiguration) || !has(self.objectLockEnabledForBucket) || self.objectLockEnabledForBucket",
          message: lockProblem.message,
          fieldPath: `.${lockProblem.path}`,
        },
      ],
    },
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
