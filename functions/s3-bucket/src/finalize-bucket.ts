import { RetryAfterError, RetryError } from "@drover/controller";
import { bucketNameProblem } from "./bucket-name.ts";
import type { BucketContext } from "./bucket.ts";
import { type BucketRunContext, bucketRunContext } from "./bucket-run-context.ts";
import type { BucketAddress, BucketStores, DeniedBucket, PresentBucket } from "./bucket-store.ts";
import { mayAppearFor } from "./ownership/creation-intent.ts";
import { readCredentials, type S3Credentials } from "./credentials.ts";
import { type BucketOwner, removalTags, determineOwnership, ownershipByTags } from "./ownership/ownership.ts";
import { sameTags, type Tags, withoutMarks } from "./ownership/tags.ts";

/**
 * Releases or deletes the bucket of an object that is being deleted. A bucket that is not the object's is left alone,
 * and does not delay the deletion of the object.
 *
 * @throws RetryAfterError while the bucket is not empty, is being emptied, or may still be created.
 * @throws RetryError if the bucket cannot be emptied, or is filled again.
 */
export async function finalizeBucket(context: BucketContext, stores: BucketStores): Promise<void> {
  const credentials = await credentialsToFinish(context);
  if (credentials === "gone") return;
  const runContext = bucketRunContext(context, stores, credentials.value);
  // All names under which a bucket of this object may have been created. For each, the owner is checked.
  const { bucketName, creating } = runContext.recorded;
  const names = new Set([bucketName, creating?.bucketName, runContext.name]);
  for (const name of names) {
    if (name !== undefined && bucketNameProblem(name) === undefined) await finish(runContext, name);
  }
}

/**
 * If a namespace is deleted, the Secret is often gone before the object. To keep a bucket takes no credentials, so an
 * object with `onDelete: Retain` does not wait for them. Drover's tags then stay on the bucket.
 */
async function credentialsToFinish(
  context: BucketContext,
): Promise<{ value: S3Credentials | undefined } | "gone"> {
  try {
    return { value: await readCredentials(context) };
  } catch (error) {
    if (context.spec.onDelete !== "Retain" || !(error instanceof RetryAfterError)) throw error;
    context.log.warn(
      { reason: error.reason },
      "No credentials to take Drover's tags off the bucket; it is kept with them.",
    );
    return "gone";
  }
}

async function finish(runContext: BucketRunContext, name: string): Promise<void> {
  const { context, store, owner, recorded, addressOf } = runContext;
  const seen = await store.observe(addressOf(name));
  if (seen.state === "absent") {
    waitForLateCreation(runContext, name, seen.at);
    return;
  }
  if (seen.state === "denied") {
    await expectAnotherAccounts(runContext, name, seen);
    return;
  }
  const answer = await determineOwnership(store, seen, owner, recorded);
  if (answer.whose !== "ours") {
    context.log.info({ bucket: name, ...answer }, "Bucket left alone: it is not this object's.");
    return;
  }
  switch (context.spec.onDelete) {
    case "Retain":
      return release(runContext, seen);
    case "Delete":
      return destroy(runContext, seen);
  }
}

/**
 * A name that another account has must not delay the deletion of the object. A bucket that was the object's must, if
 * the credentials may not touch it any more.
 */
async function expectAnotherAccounts(
  runContext: BucketRunContext,
  name: string,
  { error }: DeniedBucket,
): Promise<void> {
  const { context, store, recorded, addressOf } = runContext;
  const had = recorded.bucketName === name || recorded.creating?.bucketName === name;
  if (had || (await store.listing(addressOf(name))).state !== "not-listed") throw error;
  context.log.info({ bucket: name }, "Bucket left alone: it is another account's.");
}

/** An interrupted run may have requested a bucket that the server has not created yet. */
function waitForLateCreation({ recorded }: BucketRunContext, name: string, at: Date): void {
  const rest = mayAppearFor(recorded.creating, name, at);
  if (rest === 0) return;
  throw new RetryAfterError(`Bucket ${name} may still be created by an earlier run.`, {
    after: `${rest}ms`,
    reason: "CreationPending",
  });
}

async function release(
  { context, store, owner }: BucketRunContext,
  { address, tags }: PresentBucket,
): Promise<void> {
  if (!sameTags(tags, withoutMarks(tags))) {
    await store.retag(address, (current) =>
      isOwnedByAnother(current, owner) ? current : withoutMarks(current),
    );
  }
  context.log.info({ bucket: address.name }, "Bucket retained, without Drover's marks.");
}

async function destroy(runContext: BucketRunContext, { address, tags }: PresentBucket): Promise<void> {
  const { context, store, owner } = runContext;
  const { emptyOnDelete } = context.spec;
  if (!emptyOnDelete && !(await store.isEmpty(address))) throw notEmpty(address.name);
  const marks = removalTags(owner);
  if (!sameTags(tags, marks)) {
    await store.retag(address, (current) => (isOwnedByAnother(current, owner) ? current : marks));
  }
  if (emptyOnDelete && (await isStillOwned(runContext, address))) await empty(runContext, address);
  if (!(await isStillOwned(runContext, address))) return;
  if ((await store.remove(address)) === "not-empty") throw (emptyOnDelete ? filled : notEmpty)(address.name);
  context.log.info({ bucket: address.name }, "Bucket deleted.");
}

/** Checks the owner just before something is deleted. */
async function isStillOwned(
  { context, store, owner }: BucketRunContext,
  address: BucketAddress,
): Promise<boolean> {
  const seen = await store.observe(address);
  if (seen.state === "denied") throw seen.error;
  if (seen.state === "absent") return false;
  if (ownershipByTags(seen.tags, owner).whose === "ours") return true;
  context.log.warn(
    { bucket: address.name },
    "Bucket left alone: another owner took it over before it was deleted.",
  );
  return false;
}

const isOwnedByAnother = (tags: Tags, owner: BucketOwner): boolean =>
  ownershipByTags(tags, owner).whose === "anothers";

async function empty(
  { context, store }: BucketRunContext,
  { name, ...address }: BucketAddress,
): Promise<void> {
  const { deleted, kept, next } = await store.empty({ name, ...address });
  if (deleted > 0) context.log.info({ bucket: name, deleted }, "Deleted contents of the bucket.");
  if (next !== undefined && deleted > 0) {
    // The key makes each run's message different, which shows the runtime that there is progress.
    throw new RetryAfterError(
      `Bucket ${name} is being emptied: ${deleted} items in this run, and it goes on at ${short(next)}.`,
      { after: "1ms", reason: "Emptying" },
    );
  }
  const [first] = kept;
  if (first !== undefined) {
    const others = kept.length > 1 ? `, and ${kept.length - 1} more` : "";
    throw new RetryError(
      `S3 keeps object ${short(first.key)} of bucket ${name} (${first.why})${others}. If it is under retention or a ` +
        "legal hold, wait for its end or lift it. Else delete it by hand, or by a lifecycle rule; or set spec.onDelete to Retain.",
      { reason: "ObjectsKept" },
    );
  }
  if (next !== undefined) throw filled(name);
}

const longestKey = 200;
const short = (key: string): string =>
  key.length > longestKey ? `${key.slice(0, longestKey).toWellFormed()}…` : key;

/** This error is retried with backoff. */
const filled = (name: string): Error =>
  new RetryError(
    `Bucket ${name} has been emptied, and there are objects in it again. Stop what writes to it.`,
    { reason: "BucketNotEmpty" },
  );

const notEmpty = (name: string): Error =>
  new RetryAfterError(
    `Bucket ${name} is not empty, and spec.emptyOnDelete is false. Empty the bucket, ` +
      "or set spec.emptyOnDelete to true to delete everything in it, or spec.onDelete to Retain to keep it.",
    { after: "30s", reason: "BucketNotEmpty" },
  );
