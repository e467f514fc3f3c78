import {
  DeleteBucketReplicationCommand,
  GetBucketReplicationCommand,
  PutBucketReplicationCommand,
  type ReplicationRule,
} from "@aws-sdk/client-s3";
import type { Resolved, SettingValue } from "@drover/external";
import { canonicalJson } from "@drover/json";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { listSetting } from "../bucket-setting.ts";
import { bucketRef, oneBucket, oneBucketRule } from "../bucket-or-ref.ts";
import { fieldsOf } from "../canonical.ts";
import { listById } from "../list-by-id.ts";
import { allObjects, canonicalFilter, filterSpec } from "./object-filter.ts";

const status = z.enum(["Enabled", "Disabled"]);
const onOff = z.object({ status }).optional();
const time = z.object({ minutes: z.literal(15).describe("S3 takes 15 only.") });

const destination = z
  .object({
    bucket: z.string().min(1).max(2048).optional().describe("The ARN of the bucket for the copies."),
    bucketRef,
    account: z
      .string()
      .regex(/^\d{12}$/, "An AWS account id has twelve digits.")
      .optional()
      .describe("The account of that bucket, with accessControlTranslation."),
    storageClass: z
      .enum([
        "STANDARD",
        "REDUCED_REDUNDANCY",
        "STANDARD_IA",
        "ONEZONE_IA",
        "INTELLIGENT_TIERING",
        "GLACIER_IR",
        "GLACIER",
        "DEEP_ARCHIVE",
        "OUTPOSTS",
      ])
      .optional()
      .describe("Default: that of the original."),
    accessControlTranslation: z
      .object({ owner: z.literal("Destination") })
      .optional()
      .describe("Gives the copies to the owner of that bucket."),
    encryptionConfiguration: z
      .object({ replicaKmsKeyId: z.string().min(1).max(2048).optional() })
      .optional()
      .describe("The KMS key of copies whose original has one, with sseKmsEncryptedObjects."),
    replicationTime: z
      .object({ status, time })
      .optional()
      .describe("Replication Time Control, which needs metrics."),
    metrics: z.object({ status, eventThreshold: time.optional() }).optional(),
  })
  .refine(...oneBucket("bucket"))
  .meta(oneBucketRule("bucket"));

// Left out: `prefix`, which `filter` replaces, and `existingObjectReplication`, which S3 no longer supports.
const rule = z.object({
  id: z.string().min(1).max(255).describe("Rules with other ids are left alone."),
  priority: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .optional()
    .describe("The highest counts if rules have the same destination."),
  status: status.default("Enabled"),
  filter: filterSpec({}).optional().describe("The objects that the rule is for. Left out: all."),
  sourceSelectionCriteria: z
    .object({ sseKmsEncryptedObjects: onOff, replicaModifications: onOff })
    .optional()
    .describe("Also copy objects with a KMS key, and changes of the metadata of copies."),
  destination,
  deleteMarkerReplication: onOff.describe("Disabled if left out when the rule is created."),
});

export const replicationSpec = z
  .object({
    role: z
      .string()
      .min(1)
      .max(2048)
      .describe("The ARN of the IAM role that copies, for all rules of the bucket."),
    rules: listById(rule).min(1).max(1000),
  })
  .describe("Copies new objects to other buckets. Needs versioning. Rules of others are left alone.");
type Replication = Resolved<z.output<typeof replicationSpec>>;

/** A rule with the role of the bucket's replication: S3 has one role, and a rule needs it. */
type Item = Replication["rules"][number] & { readonly role: string };
interface Api extends ReplicationRule {
  readonly Role: string | undefined;
}

export const replication = (call: BucketCall, wanted: Replication | undefined) =>
  listSetting(call, {
    name: "replication",
    wanted: wanted?.rules.map((each): Item => ({ ...each, role: wanted.role })),
    async read({ client, bucket, http }) {
      const answer = await client.send(new GetBucketReplicationCommand(bucket), http);
      const { Role, Rules = [] } = answer.ReplicationConfiguration ?? {};
      return Rules.map((each): Api => ({ ...each, Role }));
    },
    absent: "ReplicationConfigurationNotFoundError",
    idOf: ({ ID }) => ID,
    // S3 requires deleteMarkerReplication with a filter.
    toApi: (item: Item): Api => ({
      DeleteMarkerReplication: { Status: "Disabled" },
      ...toApi({ ...item, filter: item.filter ?? allObjects }),
    }),
    write: ({ client, bucket, http }, { all }) =>
      all.length === 0
        ? client.send(new DeleteBucketReplicationCommand(bucket), http)
        : client.send(
            new PutBucketReplicationCommand({
              ...bucket,
              ReplicationConfiguration: {
                Role: wanted?.role ?? all[0]?.Role,
                Rules: all.map(({ Role: _, ...each }) => each),
              },
            }),
            http,
          ),
    canonical,
  });

/** The filter as text: a rule with one more condition is another rule. Rules of old clients have a prefix in its place. */
function canonical(value: SettingValue): SettingValue {
  const { prefix, filter, ...rest } = fieldsOf(value);
  return { ...rest, filter: canonicalJson(canonicalFilter(filter, prefix)) };
}
