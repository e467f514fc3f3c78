import type { ReconcileContext } from "@drover/controller";
import type { Bucket } from "./bucket.ts";
import type { BucketAddress, BucketStore, BucketStores } from "./bucket-store.ts";
import { bucketNameOf } from "./bucket-name.ts";
import type { S3Credentials } from "./credentials.ts";
import type { BucketMemory, Owner } from "./ownership.ts";

export type BucketContext = ReconcileContext<typeof Bucket>;

/** One run over one object: what it works on, and with what. */
export interface BucketRun {
  readonly context: BucketContext;
  readonly store: BucketStore;
  readonly owner: Owner;
  readonly memory: BucketMemory;
  /** The name that the spec asks for now. */
  readonly name: string;
  /** Where a bucket of a name is looked for first; what is seen there says where it really is. */
  readonly addressOf: (name: string) => BucketAddress;
}

export function bucketRun(
  context: BucketContext,
  stores: BucketStores,
  credentials: S3Credentials | undefined,
): BucketRun {
  const { key, metadata, spec, status, signal } = context;
  return {
    context,
    store: stores.open({ credentials, accountId: spec.accountId, signal }),
    owner: { uid: metadata.uid, name: key },
    memory: status,
    name: bucketNameOf(spec, metadata),
    addressOf: (name) => ({ name, region: spec.region ?? status.region ?? stores.defaultRegion }),
  };
}
