import { RetryAfterError } from "@drover/controller";
import type { BucketRunContext } from "../bucket-run-context.ts";
import type { PresentBucket } from "../bucket-store.ts";
import type { Tags } from "./tags.ts";
import { mayAdopt, determineOwnership, ownershipByTags } from "./ownership.ts";

/** The object has the bucket, or may take it. */
export interface BucketClaim {
  /** Why: its tag names the object, the object's status identifies it, or it has no owner and may be adopted. */
  readonly by: "tag" | "memory" | "adoption";
  readonly adopted: boolean;
  readonly createdAt?: string | undefined;
}

/** @throws RetryAfterError if the object must not touch the bucket. It may be deleted or released later. */
export async function claimBucket(runContext: BucketRunContext, seen: PresentBucket): Promise<BucketClaim> {
  const { context, store, owner, recorded } = runContext;
  const answer = await determineOwnership(store, seen, owner, recorded);
  switch (answer.whose) {
    case "ours":
      return {
        by: answer.by,
        adopted: wasAdopted(runContext, seen.address.name),
        createdAt: answer.createdAt?.toISOString(),
      };
    case "anothers":
      throw ownedByAnother(runContext, answer.owner);
    case "nobodys":
      await refuseAdoption(runContext, seen);
      context.log.info({ bucket: seen.address.name }, "Bucket is to be adopted.");
      return { by: "adoption", adopted: true };
  }
}

/**
 * True if the bucket existed before the object had it. A run may have tagged it and died before it wrote the status. If
 * the bucket had been created for the object, the status would contain the intent.
 */
function wasAdopted({ context, recorded }: BucketRunContext, name: string): boolean {
  if (recorded.bucketName === name) return context.status.adopted === true;
  return recorded.creating?.bucketName !== name;
}

/**
 * Checks the owner again before the settings of a newly tagged bucket are changed: two objects may have tagged it at
 * the same time, and the tags show which one has it.
 */
export async function confirmClaim(runContext: BucketRunContext, { address }: PresentBucket): Promise<void> {
  const seen = await runContext.store.observe(address);
  if (seen.state === "denied") throw seen.error;
  if (seen.state === "present") rejectForeignTags(runContext, seen.tags);
  if (seen.state === "present" && ownershipByTags(seen.tags, runContext.owner).whose === "ours") return;
  throw new RetryAfterError(
    `The owner of bucket ${address.name} was written and cannot be read yet. It is read again every second; if this lasts, ` +
      "check that the credentials may read the bucket's tags.",
    {
      after: "1s",
      reason: "OwnerNotVisible",
    },
  );
}

/** @throws RetryAfterError if another object has the bucket according to its tags. */
export function rejectForeignTags(runContext: BucketRunContext, tags: Tags): void {
  const answer = ownershipByTags(tags, runContext.owner);
  if (answer.whose === "anothers") throw ownedByAnother(runContext, answer.owner);
}

const ownedByAnother = (runContext: BucketRunContext, owner: string): Error =>
  bucketNotOwned(runContext, `it belongs to another Bucket object (${owner})`, [
    "Choose another spec.bucketName, or delete that object with onDelete: Retain.",
    "If it is gone for good, take the tag drover.dev/owner-uid off the bucket.",
  ]);

async function refuseAdoption(runContext: BucketRunContext, seen: PresentBucket): Promise<void> {
  const { adopt, accountId } = runContext.context.spec;
  const rename = "Choose another spec.bucketName";
  if (adopt === "Never") {
    throw bucketNotOwned(runContext, "it was not made for this object", [
      `${rename}, or set spec.adopt to IfUnowned to take it.`,
    ]);
  }
  switch (await mayAdopt(runContext.store, seen, accountId)) {
    case "yes":
      return;
    case "another-account":
      throw bucketNotOwned(runContext, "it belongs to another account", [`${rename}.`]);
    case "unknown-account":
      throw bucketNotOwned(
        runContext,
        "these credentials may not list buckets, so its account is not known",
        ["Allow s3:ListAllMyBuckets, or set spec.accountId."],
      );
    case "being-removed":
      throw bucketNotOwned(runContext, "another Bucket object is deleting it", [
        `Wait, or ${rename.toLowerCase()}.`,
      ]);
  }
}

const bucketNotOwned = ({ name, context }: BucketRunContext, why: string, help: readonly string[]): Error =>
  new RetryAfterError(`Bucket ${name} is left alone: ${why}. ${help.join(" ")}`, {
    after: context.spec.pollInterval,
    reason: "BucketNotOurs",
  });
