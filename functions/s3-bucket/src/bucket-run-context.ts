import type { BucketAddress, BucketStore, BucketStores } from "./bucket-store.ts";
import { bucketNameOf } from "./bucket-name.ts";
import type { S3Credentials } from "./credentials.ts";
import type { RecordedBucket, BucketOwner } from "./ownership/ownership.ts";
import type { BucketContext } from "./bucket.ts";

/** One run for one object, with all that its steps need. */
export interface BucketRunContext {
  readonly context: BucketContext;
  readonly store: BucketStore;
  readonly owner: BucketOwner;
  readonly recorded: RecordedBucket;
  /** The bucket name that the spec asks for now. */
  readonly name: string;
  /** The address at which a bucket is looked up first. The observation contains the region where it really is. */
  readonly addressOf: (name: string) => BucketAddress;
}

export function bucketRunContext(
  context: BucketContext,
  stores: BucketStores,
  credentials: S3Credentials | undefined,
): BucketRunContext {
  const { key, metadata, spec, status, signal } = context;
  return {
    context,
    store: stores.open({ credentials, accountId: spec.accountId, signal }),
    owner: { uid: metadata.uid, name: key },
    recorded: status,
    name: bucketNameOf(spec, metadata),
    addressOf: (name) => ({ name, region: spec.region ?? status.region ?? stores.defaultRegion }),
  };
}
