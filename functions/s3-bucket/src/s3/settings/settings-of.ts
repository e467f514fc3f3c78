import type { Resolved, Setting } from "@drover/external";
import type { z } from "zod";
import type { BucketCall } from "../bucket-call.ts";
import { accelerate, accelerateSpec } from "./access/accelerate.ts";
import { acl, aclSpec } from "./access/acl.ts";
import { cors, corsSpec } from "./access/cors.ts";
import { analytics, analyticsSpec } from "./reporting/analytics.ts";
import { encryption, encryptionSpec } from "./objects/encryption.ts";
import { intelligentTiering, intelligentTieringSpec } from "./reporting/intelligent-tiering.ts";
import { inventory, inventorySpec } from "./reporting/inventory.ts";
import { lifecycle, lifecycleSpec } from "./objects/lifecycle.ts";
import { logging, loggingSpec } from "./reporting/logging.ts";
import { notification, notificationSpec } from "./reporting/notification.ts";
import {
  objectLockConfiguration,
  objectLockConfigurationSpec,
  objectLockEnabledForBucketSpec,
} from "./objects/object-lock.ts";
import { isEnforced, ownershipControls, ownershipControlsSpec } from "./access/ownership-controls.ts";
import { policy, policySpec } from "./access/policy.ts";
import { metrics, metricsSpec } from "./reporting/metrics.ts";
import { publicAccessBlock, publicAccessBlockSpec } from "./access/public-access-block.ts";
import { replication, replicationSpec } from "./objects/replication.ts";
import { requestPayment, requestPaymentSpec } from "./access/request-payment.ts";
import { versioning, versioningSpec } from "./objects/versioning.ts";
import { website, websiteSpec } from "./access/website.ts";

/** The fields of a spec that are settings of the bucket. */
export const settingsSpec = {
  versioning: versioningSpec.optional(),
  objectLockEnabledForBucket: objectLockEnabledForBucketSpec.optional(),
  objectLockConfiguration: objectLockConfigurationSpec.optional(),
  encryption: encryptionSpec.optional(),
  publicAccessBlock: publicAccessBlockSpec.optional(),
  ownershipControls: ownershipControlsSpec.optional(),
  acl: aclSpec.optional(),
  policy: policySpec.optional(),
  cors: corsSpec.optional(),
  website: websiteSpec.optional(),
  accelerate: accelerateSpec.optional(),
  lifecycle: lifecycleSpec.optional(),
  replication: replicationSpec.optional(),
  logging: loggingSpec.optional(),
  notification: notificationSpec.optional(),
  analytics: analyticsSpec.optional(),
  intelligentTiering: intelligentTieringSpec.optional(),
  inventory: inventorySpec.optional(),
  metrics: metricsSpec.optional(),
  requestPayment: requestPaymentSpec.optional(),
};

type Spec = Resolved<z.output<z.ZodObject<typeof settingsSpec>>>;

/**
 * The settings of a bucket, in the order in which they are written: protection before what it protects from, and what
 * another one needs before that one.
 */
export const settingsOf = (call: BucketCall, spec: Spec): readonly Setting[] => [
  publicAccessBlock(call, spec.publicAccessBlock),
  ...ownershipAndAcl(call, spec),
  policy(call, spec.policy),
  ...versioningAndDependents(call, spec),
  encryption(call, spec.encryption),
  cors(call, spec.cors),
  website(call, spec.website),
  accelerate(call, spec.accelerate),
  lifecycle(call, spec.lifecycle),
  logging(call, spec.logging),
  notification(call, spec.notification),
  intelligentTiering(call, spec.intelligentTiering),
  requestPayment(call, spec.requestPayment),
  inventory(call, spec.inventory),
  analytics(call, spec.analytics),
  metrics(call, spec.metrics),
];

/** S3 refuses BucketOwnerEnforced while the list has grants to others, and such grants once it is BucketOwnerEnforced. */
function ownershipAndAcl(call: BucketCall, spec: Spec): readonly Setting[] {
  const ownership = ownershipControls(call, spec.ownershipControls);
  const grants = acl(call, spec.acl);
  return isEnforced(spec.ownershipControls) ? [grants, ownership] : [ownership, grants];
}

/**
 * S3 accepts a lock and a replication only while versioning is enabled, and does not suspend it before the replication is
 * removed: https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication-and-other-bucket-configs.html
 */
function versioningAndDependents(call: BucketCall, spec: Spec): readonly Setting[] {
  const itself = versioning(call, spec.versioning);
  const dependents = [
    objectLockConfiguration(call, spec.objectLockConfiguration),
    replication(call, spec.replication),
  ];
  return spec.versioning === "Enabled" ? [itself, ...dependents] : [...dependents, itself];
}
