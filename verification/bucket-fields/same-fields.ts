import { droverFields } from "./drover-fields.ts";
import type { PeerField } from "./peers.ts";

/**
 * A path without the differences of spelling: upper case, underscores, marks of lists, plural endings, the word
 * `configuration`, and a name that repeats the one before it.
 */
export function normalized(path: string): string {
  const names = path.split(".").map((name) =>
    name
      .replaceAll(/\[\]|_/g, "")
      .toLowerCase()
      .replace(/configurations?$/, "")
      .replace(/s+$/, ""),
  );
  return names.filter((name, index) => name !== "" && name !== names[index - 1]).join(".");
}

/** Fields that every kind of Crossplane and Terraform has, since each setting is an object of its own. */
const ofEveryKind = ["bucket", "bucketRef", "bucketSelector", "expectedBucketOwner", "region", "timeouts"];

/** The path of a field below the setting that its kind is for, normalized. */
export function settingPath({ product, kind, path }: PeerField): string {
  const setting = kind.replace(/^(aws_s3_bucket|Bucket)/, "");
  const isOfEveryKind = ofEveryKind.some((name) => normalized(name) === normalized(path).split(".")[0]);
  return normalized(product === "ack" || isOfEveryKind ? path : `${setting}.${path}`);
}

/**
 * Names that differ in more than spelling. A name is replaced at the beginning of a path; the longest one counts. The
 * new names are those of Drover or, where it lacks the field, of another product.
 */
type Renamed = Readonly<Record<string, readonly string[]>>;

const ofAck: Renamed = {
  name: ["bucketName"],
  "createBucketConfiguration.locationConstraint": ["region"],
  "tagging.tagSet.key": ["tags"],
  "tagging.tagSet.value": ["tags"],
  "versioning.status": ["versioning"],
  acl: ["acl.canned"],
  grantFullControl: ["acl.grants"],
  grantRead: ["acl.grants"],
  grantReadACP: ["acl.grants"],
  grantWrite: ["acl.grants"],
  grantWriteACP: ["acl.grants"],
  objectOwnership: ["ownershipControls.rules.objectOwnership"],
  "lifecycle.rules.prefix": ["lifecycle.rules.filter.prefix"],
  "replication.rules.prefix": ["replication.rules.filter.prefix"],
};

/** Crossplane's kinds are generated from Terraform's resources. */
const ofTerraform: Renamed = {
  bucket: ["bucketName"],
  bucketNamespace: ["namespace"],
  expectedBucketOwner: ["accountId"],
  forceDestroy: ["emptyOnDelete"],
  "versioning.status": ["versioning"],
  "versioning.enabled": ["versioning"],
  objectLockEnabled: ["objectLockEnabledForBucket"],
  "objectLockConfiguration.objectLockEnabled": ["objectLockEnabledForBucket"],
  serverSideEncryptionConfiguration: ["encryption"],
  accelerationStatus: ["accelerate.status"],
  requestPayer: ["requestPayment.payer"],
  acl: ["acl.canned"],
  "acl.accessControlPolicy": ["acl"],
  grant: ["acl.grants"],
  "grant.type": ["acl.grants.grantee.type"],
  "grant.id": ["acl.grants.grantee.id"],
  "grant.uri": ["acl.grants.grantee.uri"],
  "abac.abacStatus": ["abac"],
  corsRule: ["cors.corsRules"],
  lifecycleRule: ["lifecycle.rules"],
  "lifecycle.rule.prefix": ["lifecycle.rules.filter.prefix"],
  "lifecycleRule.prefix": ["lifecycle.rules.filter.prefix", "lifecycle.rules.filter.and.prefix"],
  "lifecycleRule.tags": ["lifecycle.rules.filter.tag", "lifecycle.rules.filter.and.tags"],
  "lifecycleRule.enabled": ["lifecycle.rules.status"],
  "lifecycleRule.abortIncompleteMultipartUploadDays": [
    "lifecycle.rules.abortIncompleteMultipartUpload.daysAfterInitiation",
  ],
  "lifecycleRule.noncurrentVersionExpiration.days": [
    "lifecycle.rules.noncurrentVersionExpiration.noncurrentDays",
  ],
  "lifecycleRule.noncurrentVersionTransition.days": [
    "lifecycle.rules.noncurrentVersionTransitions.noncurrentDays",
  ],
  "replication.rule.prefix": ["replication.rules.filter.prefix"],
  "replication.rule.filter.tags": ["replication.rules.filter.tag", "replication.rules.filter.and.tags"],
  "replication.rule.filter.tag.key": ["replication.rules.filter.tag.key"],
  "replication.rule.filter.tag.value": ["replication.rules.filter.tag.value"],
  "replication.rule.deleteMarkerReplicationStatus": ["replication.rules.deleteMarkerReplication.status"],
  "replication.rule.destination.accountId": ["replication.rules.destination.account"],
  "replication.rule.destination.metrics.minutes": [
    "replication.rules.destination.metrics.eventThreshold.minutes",
  ],
  "replication.rule.destination.replicationTime.minutes": [
    "replication.rules.destination.replicationTime.time.minutes",
  ],
  "replication.rule.destination.replicaKmsKeyId": [
    "replication.rules.destination.encryptionConfiguration.replicaKmsKeyId",
  ],
  "replication.rule.sourceSelectionCriteria.sseKmsEncryptedObjects.enabled": [
    "replication.rules.sourceSelectionCriteria.sseKmsEncryptedObjects.status",
  ],
  logging: ["logging.loggingEnabled"],
  "notification.lambdaFunction.filterPrefix": [
    "notification.lambdaFunctionConfigurations.filter.key.filterRules",
  ],
  "notification.lambdaFunction.filterSuffix": [
    "notification.lambdaFunctionConfigurations.filter.key.filterRules",
  ],
  "notification.queue.filterPrefix": ["notification.queueConfigurations.filter.key.filterRules"],
  "notification.queue.filterSuffix": ["notification.queueConfigurations.filter.key.filterRules"],
  "notification.topic.filterPrefix": ["notification.topicConfigurations.filter.key.filterRules"],
  "notification.topic.filterSuffix": ["notification.topicConfigurations.filter.key.filterRules"],
  "analytics.name": ["analytics.id"],
  "analytics.filter.prefix": ["analytics.filter.prefix", "analytics.filter.and.prefix"],
  "analytics.filter.tags": ["analytics.filter.tag", "analytics.filter.and.tags"],
  "analytics.storageClassAnalysis.dataExport.destination.s3BucketDestination.bucketArn": [
    "analytics.storageClassAnalysis.dataExport.destination.s3BucketDestination.bucket",
  ],
  "intelligentTiering.name": ["intelligentTiering.id"],
  "intelligentTiering.filter.prefix": [
    "intelligentTiering.filter.prefix",
    "intelligentTiering.filter.and.prefix",
  ],
  "intelligentTiering.filter.tags": ["intelligentTiering.filter.tag", "intelligentTiering.filter.and.tags"],
  "inventory.name": ["inventory.id"],
  "inventory.enabled": ["inventory.isEnabled"],
  "inventory.destination.bucket": ["inventory.destination.s3BucketDestination"],
  "inventory.destination.bucket.bucketArn": ["inventory.destination.s3BucketDestination.bucket"],
  "metrics.name": ["metrics.id"],
  "metrics.filter.accessPoint": ["metrics.filter.accessPointArn", "metrics.filter.and.accessPointArn"],
  "metrics.filter.prefix": ["metrics.filter.prefix", "metrics.filter.and.prefix"],
  "metrics.filter.tags": ["metrics.filter.tag", "metrics.filter.and.tags"],
};

/** References are Crossplane's own. */
const ofCrossplane: Renamed = {
  ...ofTerraform,
  "analytics.storageClassAnalysis.dataExport.destination.s3BucketDestination.bucketArnRef": [
    "analytics.storageClassAnalysis.dataExport.destination.s3BucketDestination.bucketRef",
  ],
  "inventory.destination.bucket.bucketArnRef": ["inventory.destination.s3BucketDestination.bucketRef"],
};

export interface Renaming {
  readonly from: string;
  readonly to: readonly string[];
}
const renamingsOf = (renamed: Renamed): readonly Renaming[] =>
  Object.entries(renamed)
    .map(([from, to]) => ({ from: normalized(from), to }))
    .sort((one, other) => other.from.length - one.from.length);
export const renamings = {
  ack: renamingsOf(ofAck),
  crossplane: renamingsOf(ofCrossplane),
  terraform: renamingsOf(ofTerraform),
};

/** Tests if a path is another one, or below it. */
export const isAt = (path: string, at: string): boolean => path === at || path.startsWith(`${at}.`);

/** The names of a field in Drover's words, normalized, whether or not Drover has it. */
export function pathsOf(field: PeerField, from = renamings[field.product]): readonly string[] {
  const path = settingPath(field);
  const renaming = from.find((each) => isAt(path, each.from));
  return renaming === undefined
    ? [path]
    : renaming.to.map((to) => normalized(`${to}${path.slice(renaming.from.length)}`));
}

const droverPaths = droverFields.map((field) => ({ field, path: normalized(field) }));

/** The fields of Drover at a path or below it: a map or a text of another product may be several. */
export const droverFieldsAt = (path: string): readonly string[] =>
  droverPaths.filter((each) => isAt(each.path, path)).map(({ field }) => field);

/** The fields of Drover that correspond to a field of another product. */
export const droverFieldsOf = (field: PeerField): readonly string[] => pathsOf(field).flatMap(droverFieldsAt);
