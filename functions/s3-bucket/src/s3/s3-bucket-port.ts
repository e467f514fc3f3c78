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
import {
  accountOf,
  AwsRefusal,
  readCredentials,
  splitTags,
  tagLimits,
  tagList,
  type TagSet,
} from "@drover/aws";
import { objectKey, serverTime, TerminalError } from "@drover/controller";
import { refOf } from "@drover/kube";
import {
  type AccountListing,
  type Creation,
  type ExternalPort,
  type Observation,
  type PresentResource,
  type Reference,
  type ResolvedReferences,
  resolveReferences,
  type ResourceWords,
  sameTags,
  type Tags,
} from "@drover/external";
import { Bucket, type BucketContext, type BucketDetails, rolesVariable } from "../bucket.ts";
import { bucketNameOf, bucketNameProblem } from "../bucket-name.ts";
import type { S3Config } from "../config.ts";
import type { BucketCall } from "./bucket-call.ts";
import { rejectObjectLock } from "./settings/objects/object-lock.ts";
import { settingsOf } from "./settings/settings-of.ts";
import { clearBucket, contentsError } from "./clear-bucket.ts";
import { s3Clients } from "./s3-clients.ts";
import { errorAfter, refusedCreation, responseOrRefusal } from "./s3-errors.ts";

/** The address of a bucket. */
interface BucketAddress {
  readonly name: string;
  readonly region: string;
}

/** A bucket that exists, with the region where it really is. */
export interface PresentBucket extends PresentResource {
  readonly region: string;
}

export type BucketPort = ExternalPort<PresentBucket, BucketDetails>;

/** Opens the ports of runs. */
export interface BucketPorts {
  /** @throws RetryAfterError if the credentials that the spec names cannot be used. */
  open(context: BucketContext): Promise<BucketPort>;
  /** Closes all connections. */
  close(): void;
}

/** Buckets on the S3 server of the configuration. Opens connections when they are needed; the caller must close it. */
export function s3BucketPorts(config: S3Config): BucketPorts {
  const clients = s3Clients(config);
  return {
    async open(context) {
      const credentials = await readCredentials(context, {
        allowed: config.s3Roles,
        variable: rolesVariable,
      });
      const account = accountOf(credentials);
      const references = await resolveReferences(context.spec, (asked) => findBucket(context, asked));
      return s3BucketPort({ context, account, config, references }, (region) =>
        clients.get(credentials, region),
      );
    },
    close: () => clients.close(),
  };
}

interface PortOptions {
  readonly context: BucketContext;
  readonly account: string;
  readonly config: S3Config;
  readonly references: ResolvedReferences<BucketContext["spec"]>;
}

const apiVersion = "s3.drover.dev/v1alpha1";
const words: ResourceWords = {
  noun: "bucket",
  kind: "Bucket",
  nameField: "spec.bucketName",
  listPermission: "s3:ListAllMyBuckets",
};

function s3BucketPort(
  { context, account, config, references }: PortOptions,
  clientIn: (region: string) => S3Client,
): BucketPort {
  const { spec, status, metadata, signal, log } = context;
  const { s3Region: defaultRegion, s3Endpoint: endpoint } = config;
  const http = { abortSignal: signal };
  const callOn = ({ name, region }: BucketAddress): BucketCall => ({
    client: clientIn(region),
    bucket: { Bucket: name, ExpectedBucketOwner: spec.accountId },
    http,
  });
  /** The address at which a bucket is looked up first. The observation contains the region where it really is. */
  const addressOf = (name: string): BucketAddress => ({
    name,
    region: spec.region ?? status.region ?? defaultRegion,
  });
  const name = bucketNameOf(spec, metadata);
  return {
    words,
    apiVersion,
    name,
    isNameDefault: spec.bucketName === undefined,
    recordedName: status.bucketName,
    maxTags: tagLimits.tags,
    account,
    isAccountChecked: spec.accountId !== undefined,
    nameProblem: bucketNameProblem,
    observe: (asked) => observe(callOn, addressOf(asked)),
    listing: (asked) => listing(callOn(addressOf(asked))),
    isUnused: (seen) => isEmpty(callOn(seen)),
    create: (tags) => create(callOn(addressOf(name)), addressOf(name), { tags, spec }),
    async rejectImmutable(seen) {
      rejectMove(spec.region, seen);
      await rejectObjectLock(callOn(seen), spec.objectLockEnabledForBucket);
    },
    retag: (seen, change) => retag(callOn(seen), change),
    settings: (seen) => references.waiting(settingsOf(callOn(seen ?? addressOf(name)), references.spec)),
    outputs: ({ name: bucketName, region }) => ({
      bucketName,
      region,
      arn: arnOf(bucketName, region),
      endpoint: endpoint ?? `https://s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`,
    }),
    details: ({ name: bucketName, region }) => ({ bucketName, arn: arnOf(bucketName, region), region }),
    async rejectDeletion(seen) {
      if (!spec.emptyOnDelete && !(await isEmpty(callOn(seen)))) throw contentsError(seen.name, spec);
    },
    ...(spec.emptyOnDelete && { clear: (seen: PresentBucket) => clearBucket(callOn(seen), log) }),
    async delete(seen) {
      const { client, bucket } = callOn(seen);
      const answer = await responseOrRefusal(client.send(new DeleteBucketCommand(bucket), http));
      if (!(answer instanceof AwsRefusal) || answer.code === "NoSuchBucket") return "deleted";
      if (answer.code === "BucketNotEmpty") throw contentsError(seen.name, spec);
      throw errorAfter(answer, `delete bucket ${seen.name}`);
    },
  };
}

/** The name of the bucket of another Bucket object for `targetBucket`, else its ARN. Undefined if it has none yet. */
async function findBucket(
  { client, metadata: { namespace = "" }, signal }: BucketContext,
  { field, name }: Reference,
): Promise<string | undefined> {
  const found = await client.get(refOf(Bucket), objectKey({ namespace, name }), { signal });
  const { bucketName, arn } = Bucket.status.partial().safeParse(found?.["status"] ?? {}).data ?? {};
  return field === "targetBucket" ? bucketName : arn;
}

/** True if the bucket has no object, no version and no delete marker. */
async function isEmpty({ client, bucket, http }: BucketCall): Promise<boolean> {
  const answer = await responseOrRefusal(
    client.send(new ListObjectVersionsCommand({ ...bucket, MaxKeys: 1 }), http),
  );
  if (answer instanceof AwsRefusal) throw errorAfter(answer, `list what is in bucket ${bucket.Bucket}`);
  return (answer.Versions ?? []).length + (answer.DeleteMarkers ?? []).length === 0;
}

function rejectMove(wanted: string | undefined, { name, region }: PresentBucket): void {
  if (wanted === undefined || wanted === region) return;
  throw new TerminalError(
    `Bucket ${name} is in ${region}, and a bucket cannot be moved to ${wanted}. ` +
      `Set spec.region to ${region}, or make another Bucket object.`,
    { reason: "RegionMismatch" },
  );
}

function arnOf(name: string, region: string): string {
  const partition = region.startsWith("cn-") ? "aws-cn" : region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
  return `arn:${partition}:s3:::${name}`;
}

/**
 * Reads the tags first: one answer shows if the bucket exists and which object owns it, and it has a body with an error
 * code.
 */
async function observe(
  callOn: (address: BucketAddress) => BucketCall,
  address: BucketAddress,
  followed = false,
): Promise<Observation<PresentBucket>> {
  const tags = await readTags(callOn(address));
  if (!(tags instanceof AwsRefusal)) return present(callOn, address, tags.tags);
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
async function readTags({ client, bucket, http }: BucketCall): Promise<TagSet | AwsRefusal> {
  const answer = await responseOrRefusal(client.send(new GetBucketTaggingCommand(bucket), http));
  if (!(answer instanceof AwsRefusal)) {
    return splitTags((answer.TagSet ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
  }
  return answer.code === "NoSuchTagSet" || answer.code === "NoSuchTagSetError" ? splitTags([]) : answer;
}

/** AWS accepts a set of tags only if it contains AWS's own tags unchanged. */
async function retag(call: BucketCall, change: (current: Tags) => Tags): Promise<void> {
  const { client, bucket, http } = call;
  const current = await readTags(call);
  if (current instanceof AwsRefusal) throw errorAfter(current, `read the tags of bucket ${bucket.Bucket}`);
  const tags = change(current.tags);
  if (sameTags(current.tags, tags)) return;
  const all = new Map([...current.ofAws, ...tags]);
  const answer = await responseOrRefusal<object>(
    all.size === 0
      ? client.send(new DeleteBucketTaggingCommand(bucket), http)
      : client.send(new PutBucketTaggingCommand({ ...bucket, Tagging: { TagSet: tagList(all) } }), http),
  );
  if (answer instanceof AwsRefusal) throw errorAfter(answer, `tag bucket ${bucket.Bucket}`);
}

async function present(
  callOn: (address: BucketAddress) => BucketCall,
  address: BucketAddress,
  tags: Tags,
): Promise<Observation<PresentBucket>> {
  const { client, bucket, http } = callOn(address);
  const answer = await responseOrRefusal(client.send(new HeadBucketCommand(bucket), http));
  const refused = answer instanceof AwsRefusal;
  // Credentials may be allowed to read the tags, but not to send HeadBucket. Then the region is the one that answered.
  if (refused && answer.status !== 403) throw errorAfter(answer, `look at bucket ${address.name}`);
  const region = refused ? address.region : (answer.BucketRegion ?? address.region);
  return { state: "present", name: address.name, region, tags };
}

/** Refused before anything is created: without tags, Drover could not distinguish its buckets from those of others. */
const withoutTags = (cause: AwsRefusal): Error =>
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
    if (answer instanceof AwsRefusal) {
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
  { tags, spec }: { readonly tags: Tags; readonly spec: BucketContext["spec"] },
): Promise<Creation> {
  const command = new CreateBucketCommand({
    Bucket: bucket.Bucket,
    ...(spec.objectLockEnabledForBucket && { ObjectLockEnabledForBucket: true }),
    CreateBucketConfiguration: { ...placeOf(region), Tags: tagList(tags) },
  });
  const answer = await responseOrRefusal(client.send(command, http));
  if (!(answer instanceof AwsRefusal)) return { outcome: "created" };
  if (answer.code === "BucketAlreadyOwnedByYou") return { outcome: "exists" };
  const doing = `make bucket ${name} in region ${region}`;
  if (answer.code === "BucketAlreadyExists") return { outcome: "exists", error: errorAfter(answer, doing) };
  return refusedCreation(answer, doing);
}

/** S3 takes every region as a constraint except its first, which is the one without a constraint. */
function placeOf(region: string): CreateBucketConfiguration {
  if (region === "us-east-1") return {};
  // The SDK's type has the regions that were known at its release. Servers have others.
  return { LocationConstraint: region as BucketLocationConstraint };
}
