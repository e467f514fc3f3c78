import {
  type BucketVersioningStatus,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketTaggingCommand,
  DeleteObjectCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  ListBucketsCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import type { S3Server } from "@drover/local-servers";

/** A client of the server itself, with its own credentials or those of another account. */
export const s3ClientOf = (
  server: Pick<S3Server, "url" | "region" | "accessKeyId" | "secretAccessKey">,
  credentials: NonNullable<S3ClientConfig["credentials"]> = server,
): S3Client => {
  const { url: endpoint, region } = server;
  return new S3Client({ endpoint, forcePathStyle: true, region, credentials });
};

export type BucketHandle = ReturnType<typeof bucketHandle>;

/** A bucket of this name on the server, past the function: to see its state, and to change it behind the function's back. */
export function bucketHandle(s3: S3Client, Bucket: string) {
  const tags = async (): Promise<Record<string, string>> => {
    const { TagSet = [] } = await s3.send(new GetBucketTaggingCommand({ Bucket })).catch((error: unknown) => {
      if (error instanceof Error && error.name === "NoSuchTagSet") return { TagSet: [] };
      throw error;
    });
    return Object.fromEntries(TagSet.map(({ Key = "", Value = "" }) => [Key, Value]));
  };
  return {
    make: () => s3.send(new CreateBucketCommand({ Bucket })),
    /** Its state in S3; undefined when there is none. */
    async state() {
      const { Buckets = [] } = await s3.send(new ListBucketsCommand({}));
      const found = Buckets.find(({ Name }) => Name === Bucket);
      if (found === undefined) return undefined;
      const { Status } = await s3.send(new GetBucketVersioningCommand({ Bucket }));
      return { createdAt: found.CreationDate, versioning: Status, tags: await tags() };
    },
    tags,
    setTags: (all: Readonly<Record<string, string>>) => {
      const TagSet = Object.entries(all).map(([Key, Value]) => ({ Key, Value }));
      return s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
    },
    setVersioning: (Status: BucketVersioningStatus) =>
      s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } })),
    put: (key = "a") => s3.send(new PutObjectCommand({ Bucket, Key: key, Body: key })),
    deleteObject: (Key = "a") => s3.send(new DeleteObjectCommand({ Bucket, Key })),
    beginUpload: (Key: string) => s3.send(new CreateMultipartUploadCommand({ Bucket, Key })),
    /** The server of the tests keeps the tags of a deleted bucket for the next one of its name; others do not. */
    async delete(): Promise<void> {
      await s3.send(new DeleteBucketTaggingCommand({ Bucket }));
      await s3.send(new DeleteBucketCommand({ Bucket }));
    },
  };
}
