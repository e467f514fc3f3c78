import { RetryAfterError } from "@drover/controller";
import type { BucketRun } from "./bucket-run.ts";
import type { PresentBucket } from "./bucket-store.ts";
import type { Tags } from "./tags.ts";
import { mayAdopt, whoseBucket, whoseByTags } from "./ownership.ts";

/** The object has the bucket, or may take it. */
export interface Claim {
  /** Why: its tag names the object, the object's status identifies it, or it has no owner and may be adopted. */
  readonly by: "tag" | "memory" | "adoption";
  readonly adopted: boolean;
  readonly createdAt?: string | undefined;
}

/** @throws RetryAfterError if the object must not touch the bucket. It may be deleted or released later. */
export async function claimOf(run: BucketRun, seen: PresentBucket): Promise<Claim> {
  const { context, store, owner, memory } = run;
  const answer = await whoseBucket(store, seen, owner, memory);
  switch (answer.whose) {
    case "ours":
      return {
        by: answer.by,
        adopted: wasAdopted(run, seen.address.name),
        createdAt: answer.createdAt?.toISOString(),
      };
    case "anothers":
      throw anothers(run, answer.owner);
    case "nobodys":
      await refuseAdoption(run, seen);
      context.log.info({ bucket: seen.address.name }, "Bucket is to be adopted.");
      return { by: "adoption", adopted: true };
  }
}

/**
 * True if the bucket existed before the object had it. A run may have tagged it and died before it wrote the status. If
 * the bucket had been created for the object, the status would contain the intent.
 */
function wasAdopted({ context, memory }: BucketRun, name: string): boolean {
  if (memory.bucketName === name) return context.status.adopted === true;
  return memory.creating?.bucketName !== name;
}

/**
 * Checks the owner again before the settings of a newly tagged bucket are changed: two objects may have tagged it at
 * the same time, and the tags show which one has it.
 */
export async function confirmClaim(run: BucketRun, { address }: PresentBucket): Promise<void> {
  const seen = await run.store.observe(address);
  if (seen.state === "denied") throw seen.next;
  if (seen.state === "present") refuseAnothers(run, seen.tags);
  if (seen.state === "present" && whoseByTags(seen.tags, run.owner).whose === "ours") return;
  throw new RetryAfterError(`The owner of bucket ${address.name} was written and cannot be read yet.`, {
    after: "1s",
    reason: "OwnerNotVisible",
  });
}

/** @throws RetryAfterError if another object has the bucket according to its tags. */
export function refuseAnothers(run: BucketRun, tags: Tags): void {
  const answer = whoseByTags(tags, run.owner);
  if (answer.whose === "anothers") throw anothers(run, answer.owner);
}

const anothers = (run: BucketRun, owner: string): Error =>
  notOurs(run, `it belongs to another Bucket object (${owner})`, [
    "Choose another spec.bucketName, or delete that object with onDelete: Retain.",
    "If it is gone for good, take the tag drover.dev/owner-uid off the bucket.",
  ]);

async function refuseAdoption(run: BucketRun, seen: PresentBucket): Promise<void> {
  const { adopt, accountId } = run.context.spec;
  const rename = "Choose another spec.bucketName";
  if (adopt === "Never") {
    throw notOurs(run, "it was not made for this object", [
      `${rename}, or set spec.adopt to IfUnowned to take it.`,
    ]);
  }
  switch (await mayAdopt(run.store, seen, accountId)) {
    case "yes":
      return;
    case "another-account":
      throw notOurs(run, "it belongs to another account", [`${rename}.`]);
    case "unknown-account":
      throw notOurs(run, "these credentials may not list buckets, so its account is not known", [
        "Allow s3:ListAllMyBuckets, or set spec.accountId.",
      ]);
    case "being-removed":
      throw notOurs(run, "another Bucket object is deleting it", [`Wait, or ${rename.toLowerCase()}.`]);
  }
}

const notOurs = ({ name, context }: BucketRun, why: string, help: readonly string[]): Error =>
  new RetryAfterError(`Bucket ${name} is left alone: ${why}. ${help.join(" ")}`, {
    after: context.spec.pollInterval,
    reason: "BucketNotOurs",
  });
