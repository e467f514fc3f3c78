import { type Condition, readyCondition, type ReconcileResult } from "@drover/controller";
import type { Bucket } from "./bucket.ts";
import type { BucketRunContext } from "./bucket-run-context.ts";
import type { BucketAddress, PresentBucket, SettingReport } from "./bucket-store.ts";
import type { BucketClaim } from "./ownership/claim-bucket.ts";

/** The result of a run that has brought a bucket as close to its spec as the server can. */
export async function bucketOutcome(
  runContext: BucketRunContext,
  { address }: PresentBucket,
  claim: BucketClaim,
  reports: readonly SettingReport[],
): Promise<ReconcileResult<typeof Bucket>> {
  const { spec } = runContext.context;
  const createdAt = claim.createdAt ?? (await creationOf(runContext, address));
  return {
    status: {
      bucketName: address.name,
      arn: arnOf(address),
      region: address.region,
      adopted: claim.adopted,
      ...(createdAt !== undefined && { createdAt }),
    },
    requeueAfter: spec.pollInterval,
    conditions: conditionsOf(reports),
  };
}

/** Looks up the time of creation once for each bucket. It identifies the bucket if its owner tag is removed. */
async function creationOf(
  { recorded, store }: BucketRunContext,
  address: BucketAddress,
): Promise<string | undefined> {
  const known = recorded.bucketName === address.name && recorded.creating === undefined;
  if (known && recorded.createdAt !== undefined) return recorded.createdAt;
  const listing = await store.listing(address);
  return listing.state === "listed" ? listing.createdAt.toISOString() : undefined;
}

function arnOf({ name, region }: BucketAddress): string {
  const partition = region.startsWith("cn-") ? "aws-cn" : region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
  return `arn:${partition}:s3:::${name}`;
}

/**
 * A setting that the server does not support gets a condition of its own, and the object is not Ready, because the
 * bucket is not as the spec asks. This is not an error: the rest is done, and every poll tries the setting again.
 */
function conditionsOf(reports: readonly SettingReport[]): Condition[] {
  const missing = reports.filter(({ outcome }) => outcome === "not-supported").map(({ setting }) => setting);
  const settings = reports.map(({ setting, outcome }): Condition => {
    const type = `${setting.charAt(0).toUpperCase()}${setting.slice(1)}`;
    return outcome === "not-supported"
      ? {
          type,
          status: "False",
          reason: "NotSupported",
          message: `This S3 server does not support ${setting}.`,
        }
      : { type, status: "True", reason: "Applied", message: `${type} is as the spec asks.` };
  });
  if (missing.length === 0) return settings;
  const fields = missing.map((setting) => `spec.${setting}`).join(" and ");
  const message = `This S3 server does not support ${missing.join(" and ")}. Remove ${fields}, or use another server.`;
  return [{ type: readyCondition, status: "False", reason: "NotSupported", message }, ...settings];
}
