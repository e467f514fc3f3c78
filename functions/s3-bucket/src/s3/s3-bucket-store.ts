import {
  type BucketLocationConstraint,
  type CreateBucketConfiguration,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketTaggingCommand,
  GetBucketTaggingCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  PutBucketTaggingCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { RetryAfterError, serverTime, TerminalError } from "@drover/controller";
import type {
  BucketAddress,
  BucketStore,
  BucketStores,
  Creation,
  AccountListing,
  Observation,
  StoreOptions,
} from "../bucket-store.ts";
import type { S3Config } from "../config.ts";
import type { BucketCall } from "./bucket-call.ts";
import { s3Clients } from "./s3-clients.ts";
import { emptyBucket } from "./empty-bucket.ts";
import { responseOrRefusal, errorAfter, S3Refusal } from "./s3-errors.ts";
import { updateSettings } from "./update-settings.ts";
import { sameTags, splitTags, type Tags, type TagSet } from "../ownership/tags.ts";

/** Buckets on the S3 server of the configuration. Opens connections when they are needed; the caller must close it. */
export function s3BucketStores(config: S3Config): BucketStores {
  const clients = s3Clients(config);
  return {
    defaultRegion: config.s3Region,
    open: (options) => s3BucketStore((region) => clients.get(options.credentials, region), options),
    close: () => clients.close(),
  };
}

function s3BucketStore(
  clientIn: (region: string) => S3Client,
  { signal, accountId }: Pick<StoreOptions, "signal" | "accountId">,
): BucketStore {
  const http = { abortSignal: signal };
  const callOn = (address: BucketAddress) => ({
    client: clientIn(address.region),
    bucket: { Bucket: address.name, ExpectedBucketOwner: accountId },
    http,
  });
  return {
    observe: (address) => observe(callOn, address),
    listing: (address) => listing(callOn(address)),
    async isEmpty(address) {
      const { client, bucket } = callOn(address);
      const answer = await responseOrRefusal(
        client.send(new ListObjectVersionsCommand({ ...bucket, MaxKeys: 1 }), http),
      );
      if (answer instanceof S3Refusal) throw errorAfter(answer, `list what is in bucket ${address.name}`);
      return (answer.Versions ?? []).length + (answer.DeleteMarkers ?? []).length === 0;
    },
    create: (address, tags) => create(callOn(address), address, tags),
    retag: (address, change) => retag(callOn(address), change),
    update: (address, asked) => updateSettings(callOn(address), asked),
    empty: (address) => emptyBucket(callOn(address)),
    async remove(address) {
      const { client, bucket } = callOn(address);
      const answer = await responseOrRefusal(client.send(new DeleteBucketCommand(bucket), http));
      if (!(answer instanceof S3Refusal)) return "removed";
      if (answer.code === "NoSuchBucket") return "absent";
      if (answer.code === "BucketNotEmpty") return "not-empty";
      throw errorAfter(answer, `delete bucket ${address.name}`);
    },
  };
}

/**
 * Reads the tags first: one answer shows if the bucket exists and which object owns it, and it has a body with an error
 * code.
 */
async function observe(
  callOn: (address: BucketAddress) => BucketCall,
  address: BucketAddress,
  followed = false,
): Promise<Observation> {
  const tags = await readTags(callOn(address));
  if (!(tags instanceof S3Refusal)) return present(callOn, address, tags.tags);
  if (tags.code === "NoSuchBucket")
    return { state: "absent", at: new Date(serverTime(tags.headers["date"])) };
  if (tags.notSupported) throw withoutTags(tags);
  const region = tags.headers["x-amz-bucket-region"];
  if (region !== undefined && region !== address.region && !followed) {
    return observe(callOn, { ...address, region }, true);
  }
  const error = errorAfter(tags, `read the tags of bucket ${address.name}`);
  if (tags.code === "AccessDenied") return { state: "denied", error };
  throw error;
}

/** All tags of a bucket. */
async function readTags({ client, bucket, http }: BucketCall): Promise<TagSet | S3Refusal> {
  const answer = await responseOrRefusal(client.send(new GetBucketTaggingCommand(bucket), http));
  if (!(answer instanceof S3Refusal)) {
    return splitTags((answer.TagSet ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
  }
  return answer.code === "NoSuchTagSet" || answer.code === "NoSuchTagSetError" ? splitTags([]) : answer;
}

/** AWS accepts a set of tags only if it contains AWS's own tags unchanged. */
async function retag(call: BucketCall, change: (current: Tags) => Tags): Promise<void> {
  const { client, bucket, http } = call;
  const current = await readTags(call);
  if (current instanceof S3Refusal) throw errorAfter(current, `read the tags of bucket ${bucket.Bucket}`);
  const tags = change(current.tags);
  if (sameTags(current.tags, tags)) return;
  const all = new Map([...current.ofAws, ...tags]);
  const answer = await responseOrRefusal<object>(
    all.size === 0
      ? client.send(new DeleteBucketTaggingCommand(bucket), http)
      : client.send(new PutBucketTaggingCommand({ ...bucket, Tagging: { TagSet: tagSet(all) } }), http),
  );
  if (answer instanceof S3Refusal) throw errorAfter(answer, `tag bucket ${bucket.Bucket}`);
}

async function present(
  callOn: (address: BucketAddress) => BucketCall,
  address: BucketAddress,
  tags: Tags,
): Promise<Observation> {
  const { client, bucket, http } = callOn(address);
  const answer = await responseOrRefusal(client.send(new HeadBucketCommand(bucket), http));
  const refused = answer instanceof S3Refusal;
  // Credentials may be allowed to read the tags, but not to send HeadBucket. Then the region is the one that answered.
  if (refused && answer.status !== 403) throw errorAfter(answer, `look at bucket ${address.name}`);
  const region = refused ? address.region : (answer.BucketRegion ?? address.region);
  return { state: "present", address: { ...address, region }, tags };
}

/** Refused before anything is created: without tags, Drover could not distinguish its buckets from those of others. */
const withoutTags = (cause: S3Refusal): Error =>
  new TerminalError(
    `This S3 server does not support bucket tags (${cause.message}), by which Drover recognizes its buckets. ` +
      "Use a server that does.",
    { reason: "TaggingNotSupported", cause },
  );

async function listing({ client, bucket, http }: BucketCall): Promise<AccountListing> {
  const name = bucket.Bucket;
  let page: string | undefined;
  do {
    const answer = await responseOrRefusal(
      client.send(new ListBucketsCommand({ Prefix: name, ContinuationToken: page }), http),
    );
    if (answer instanceof S3Refusal) {
      if (answer.status === 403 || answer.notSupported) return { state: "unknown" };
      throw errorAfter(answer, "list the account's buckets");
    }
    const createdAt = answer.Buckets?.find(({ Name }) => Name === name)?.CreationDate;
    if (createdAt !== undefined) return { state: "listed", createdAt };
    page = answer.ContinuationToken;
  } while (page !== undefined && page !== "");
  return { state: "not-listed" };
}

async function create(
  { client, bucket, http }: BucketCall,
  { name, region }: BucketAddress,
  tags: Tags,
): Promise<Creation> {
  const command = new CreateBucketCommand({
    Bucket: bucket.Bucket,
    CreateBucketConfiguration: { ...placeOf(region), Tags: tagSet(tags) },
  });
  const answer = await responseOrRefusal(client.send(command, http));
  if (!(answer instanceof S3Refusal)) return { outcome: "created" };
  if (answer.code === "BucketAlreadyOwnedByYou") return { outcome: "exists" };
  const error = errorAfter(answer, `make bucket ${name} in region ${region}`);
  // A conflict may be with an interrupted request of our own, and a server error may come after the bucket was created.
  const nothingMade = answer.status !== undefined && answer.status < 500 && answer.status !== 409;
  if (nothingMade && error instanceof RetryAfterError) return { outcome: "refused", error };
  throw error;
}

/** S3 takes every region as a constraint except its first, which is the one without a constraint. */
function placeOf(region: string): CreateBucketConfiguration {
  if (region === "us-east-1") return {};
  // The SDK's type has the regions that were known at its release. Servers have others.
  return { LocationConstraint: region as BucketLocationConstraint };
}

const tagSet = (tags: Tags) => [...tags].map(([Key, Value]) => ({ Key, Value }));
