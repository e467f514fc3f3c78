import type { PeerField, Product } from "./peers.ts";
import { isAt, normalized, pathsOf } from "./same-fields.ts";

export interface Reason {
  /** Paths in Drover's words. A path stands for all below it. */
  readonly fields: readonly string[];
  /** A sentence that begins with "Not yet" is about a gap. */
  readonly reason: string;
}

/** The reasons why Drover lacks fields that another product has. */
export const reasons: readonly Reason[] = [
  {
    fields: ["abac"],
    reason:
      "Not yet: with ABAC, S3 accepts tags by TagResource only. Drover writes them, and its mark of ownership, by PutBucketTagging.",
  },
  {
    fields: ["namespace"],
    reason:
      "Not yet: a bucket's name is one of the global namespace, never of a namespace of its account and region.",
  },
  {
    fields: ["metadataConfiguration"],
    reason: "Not yet: S3 Metadata, which keeps tables about the objects in another service, S3 Tables.",
  },
  {
    fields: [
      "logging.loggingEnabled.targetBucketSelector",
      "replication.rules.destination.bucketSelector",
      "analytics.storageClassAnalysis.dataExport.destination.s3BucketDestination.bucketArnSelector",
      "inventory.destination.s3BucketDestination.bucketArnSelector",
    ],
    reason: "Not needed: a reference names one Bucket. A selector could choose another one tomorrow.",
  },
  {
    fields: ["namespace", "policy"].flatMap((part) => [
      `logging.loggingEnabled.targetBucketRef.${part}`,
      `replication.rules.destination.bucketRef.${part}`,
      `analytics.storageClassAnalysis.dataExport.destination.s3BucketDestination.bucketRef.${part}`,
      `inventory.destination.s3BucketDestination.bucketRef.${part}`,
    ]),
    reason: "A reference is to a Bucket of the same namespace, is waited for, and is always followed.",
  },
  {
    fields: [
      "replication.roleRef",
      "replication.roleSelector",
      "replication.rules.destination.encryptionConfiguration.replicaKmsKeyIdRef",
      "replication.rules.destination.encryptionConfiguration.replicaKmsKeyIdSelector",
      "encryption.rules.applyServerSideEncryptionByDefault.kmsMasterKeyIdRef",
      "encryption.rules.applyServerSideEncryptionByDefault.kmsMasterKeyIdSelector",
      "notification.queueConfigurations.queueArnRef",
      "notification.queueConfigurations.queueArnSelector",
      "notification.topicConfigurations.topicArnRef",
      "notification.topicConfigurations.topicArnSelector",
      "metrics.filter.accessPointRef",
      "metrics.filter.accessPointSelector",
    ],
    reason:
      "Drover has no objects for roles, keys, queues, topics and access points to refer to: give the ARN.",
  },
  {
    fields: ["bucketRef", "bucketSelector"],
    reason: "Not needed: the settings are in the spec of the Bucket itself.",
  },
  {
    fields: ["createBucketConfiguration.bucket", "createBucketConfiguration.location"],
    reason: "A directory bucket is a resource of another kind, without most of these settings.",
  },
  {
    fields: ["versioning.mfa", "versioning.mfaDelete"],
    reason:
      "Left out: S3 accepts it only from the account's root user, with a new code of an MFA device in each request.",
  },
  {
    fields: ["acl.owner"],
    reason: "Not needed: the owner cannot be changed. Drover reads it and sends it with the grants.",
  },
  {
    fields: [
      "acl.grants.grantee.emailAddress",
      "logging.loggingEnabled.targetGrants.grantee.emailAddress",
      "logging.loggingEnabled.targetGrants.grantee.displayName",
    ],
    reason: "S3 no longer accepts e-mail addresses, and ignores display names: give the canonical id.",
  },
  {
    fields: ["replication.rules.existingObjectReplication"],
    reason: "S3 no longer supports it: use S3 Batch Replication.",
  },
  {
    fields: ["objectLockConfiguration.token", "replication.token"],
    reason:
      "Not needed: S3 enables object lock on an existing bucket, and replicates it, without a token of AWS Support.",
  },
  {
    fields: ["publicAccessBlock.skipDestroy"],
    reason:
      "Left out: name the block in the spec for as long as it must stay. A bucket that is retained keeps it.",
  },
  {
    fields: ["bucketPrefix"],
    reason: "Left out: no part of a name is random. The default is `<namespace>-<name>`.",
  },
  {
    fields: ["tagsAll"],
    reason: "Terraform computes it from `tags` and the provider's default tags.",
  },
  {
    fields: ["timeouts"],
    reason: "Not needed: a run that fails is retried until it succeeds. No command waits for it.",
  },
];

/** A path without the parts of a reference or selector. A value that is read from a Secret has the name of the value. */
export const withoutReference = (path: string): string =>
  path.replace(/secretref\..*$/, "").replace(/(ref|selector)\..*$/, "$1");

/** The reasons that are about a field. */
export const reasonsFor = (field: PeerField): readonly Reason[] =>
  reasons.filter(({ fields }) => fields.some((each) => isAbout(each, field)));

/** Tests if a path of a reason is about a field. */
export const isAbout = (path: string, field: PeerField): boolean =>
  pathsOf(field).some((of) => isAt(withoutReference(of), normalized(path)) || isAt(of, normalized(path)));

/** Means of the other products, outside the schemas that are compared here, for fields that only Drover has there. */
export const elsewhere: Readonly<Record<string, Partial<Record<Product, string>>>> = {
  manage: { ack: "annotation `read-only`", crossplane: "`spec.managementPolicies`" },
  adopt: {
    ack: "annotation `adoption-policy`",
    crossplane: "annotation `external-name`",
    terraform: "block `import`",
  },
  onDelete: {
    ack: "annotation `deletion-policy`",
    crossplane: "`spec.managementPolicies`",
    terraform: "block `removed`",
  },
  "outputs.name": { crossplane: "`spec.writeConnectionSecretToRef`", terraform: "block `output`" },
  "credentialsSecret.name": { crossplane: "`spec.providerConfigRef`", terraform: "block `provider`" },
  "assumeRole.roleArn": { crossplane: "`spec.providerConfigRef`", terraform: "block `provider`" },
};
