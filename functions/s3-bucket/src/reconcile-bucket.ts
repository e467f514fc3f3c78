import { readyCondition, type ReconcileResult, RetryAfterError, TerminalError } from "@drover/controller";
import type { Bucket, BucketContext } from "./bucket.ts";
import { bucketNameProblem } from "./bucket-name.ts";
import { bucketOutcome } from "./bucket-outcome.ts";
import { type BucketRunContext, bucketRunContext } from "./bucket-run-context.ts";
import type { BucketStores, Creation, PresentBucket } from "./bucket-store.ts";
import { claimBucket, confirmClaim, rejectForeignTags } from "./ownership/claim-bucket.ts";
import { intentToCreate, mayAppearFor, mayCreate } from "./ownership/creation-intent.ts";
import { readCredentials } from "./credentials.ts";
import { ownerTags, determineOwnership } from "./ownership/ownership.ts";
import { mergedTags, sameTags, tagLimits, type Tags } from "./ownership/tags.ts";

type Result = ReconcileResult<typeof Bucket>;

/**
 * Observes the bucket, creates it if it does not exist, and makes it as the spec asks. If it is so already, the run
 * only reads. Nothing is changed before this very run has seen that the object owns the bucket.
 */
export async function reconcileBucket(context: BucketContext, stores: BucketStores): Promise<Result> {
  const runContext = bucketRunContext(context, stores, await readCredentials(context));
  rejectInvalidName(runContext);
  await rejectRename(runContext);
  const first = await runContext.store.observe(runContext.addressOf(runContext.name));
  if (first.state === "denied") throw first.error;
  if (first.state === "absent" && !mayCreate(runContext.recorded.creating, runContext.name, first.at)) {
    return announceCreation(runContext, first.at);
  }
  const seen = first.state === "absent" ? await create(runContext) : first;
  if ("outcome" in seen) return withdrawCreation(seen.error);
  const claim = await claimBucket(runContext, seen);
  rejectMove(runContext, seen);
  await tag(runContext, seen);
  if (claim.by !== "tag") await confirmClaim(runContext, seen);
  const reports = await runContext.store.update(seen.address, { versioning: context.spec.versioning });
  return bucketOutcome(runContext, seen, claim, reports);
}

function rejectInvalidName({ name, context }: BucketRunContext): void {
  const problem = bucketNameProblem(name);
  if (problem === undefined) return;
  const source =
    context.spec.bucketName === undefined ? ", made of the namespace and the name of this object," : "";
  throw new TerminalError(
    `${JSON.stringify(name)}${source} cannot be a bucket's name. ${problem} Set spec.bucketName.`,
    {
      reason: "InvalidBucketName",
    },
  );
}

/** A bucket cannot be renamed. The one with the former name must not be lost, also if it is only being created. */
async function rejectRename({ store, owner, recorded, name, addressOf }: BucketRunContext): Promise<void> {
  const former = recorded.bucketName ?? recorded.creating?.bucketName;
  if (former === undefined || former === name) return;
  const immutable = new TerminalError(
    `The bucket of this object is ${former}, and a bucket cannot be renamed. ` +
      `Set spec.bucketName back to ${former}, or make another Bucket object for ${name}.`,
    { reason: "BucketNameImmutable" },
  );
  if (recorded.bucketName !== undefined) throw immutable;
  const seen = await store.observe(addressOf(former));
  if (seen.state === "denied") throw seen.error;
  if (seen.state === "present") {
    if ((await determineOwnership(store, seen, owner, recorded)).whose === "ours") throw immutable;
    return;
  }
  const rest = mayAppearFor(recorded.creating, former, seen.at);
  if (rest === 0) return;
  throw new RetryAfterError(`Bucket ${former}, the former name, may still be created by an earlier run.`, {
    after: `${rest}ms`,
    reason: "CreationPending",
  });
}

/**
 * The result of the run before the one that creates a bucket: see `ownership.ts`. Ready is Unknown: nothing is wrong.
 */
function announceCreation({ context, name, recorded }: BucketRunContext, at: Date): Result {
  if (recorded.bucketName === name)
    context.log.warn({ bucket: name }, "The bucket is gone; it is created again.");
  const message = `Bucket ${name} is about to be made.`;
  return {
    status: { creating: intentToCreate(name, at, recorded.creating) },
    requeueAfter: "1ms",
    conditions: [{ type: readyCondition, status: "Unknown", reason: "Creating", message }],
  };
}

async function create(
  runContext: BucketRunContext,
): Promise<PresentBucket | Extract<Creation, { outcome: "refused" }>> {
  const { context, store, owner, name, addressOf } = runContext;
  const address = addressOf(name);
  const answer = await store.create(address, mergedTags(new Map(), context.spec.tags, ownerTags(owner)));
  if (answer.outcome === "refused") return answer;
  context.log.info({ bucket: name, region: address.region, outcome: answer.outcome }, "Bucket created.");
  const seen = await store.observe(address);
  if (seen.state === "present") return seen;
  if (seen.state === "denied") throw seen.error;
  throw new RetryAfterError(`Bucket ${name} was made and cannot be seen yet.`, {
    after: "1s",
    reason: "Creating",
  });
}

/**
 * Nothing was created, so the intent is withdrawn. Otherwise a bucket that a user creates by hand, because the function
 * may not, would be taken for ours. An error cannot carry a status, so this is a result with the same reason and
 * message.
 */
const withdrawCreation = ({ after, reason, message }: RetryAfterError): Result => ({
  status: {},
  requeueAfter: after,
  conditions: [{ type: readyCondition, status: "False", reason, message }],
});

function rejectMove({ context, name }: BucketRunContext, { address }: PresentBucket): void {
  const { region } = context.spec;
  if (region === undefined || region === address.region) return;
  throw new TerminalError(
    `Bucket ${name} is in ${address.region}, and a bucket cannot be moved to ${region}. ` +
      `Set spec.region to ${address.region}, or make another Bucket object.`,
    { reason: "RegionMismatch" },
  );
}

async function tag(runContext: BucketRunContext, { address, tags }: PresentBucket): Promise<void> {
  if (sameTags(tags, wantedTags(runContext, tags))) return;
  await runContext.store.retag(address, (current) => {
    rejectForeignTags(runContext, current);
    return wantedTags(runContext, current);
  });
  runContext.context.log.info({ bucket: address.name }, "Bucket tagged.");
}

function wantedTags({ context, owner, name }: BucketRunContext, current: Tags): Tags {
  const wanted = mergedTags(current, context.spec.tags, ownerTags(owner));
  if (wanted.size <= tagLimits.tags) return wanted;
  throw new RetryAfterError(
    `Bucket ${name} would carry ${wanted.size} tags, with those of others, and S3 takes ${tagLimits.tags}. ` +
      "Take some out of spec.tags or off the bucket.",
    { after: context.spec.pollInterval, reason: "TooManyTags" },
  );
}
