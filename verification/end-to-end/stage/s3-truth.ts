import {
  DeleteBucketCommand,
  DeleteBucketTaggingCommand,
  DeleteObjectCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  ListBucketsCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { S3Server } from "@drover/local-servers";

/** A bucket as the S3 server reports it. */
export interface TrueBucket {
  readonly tags: Readonly<Record<string, string>>;
  readonly versioning: string | undefined;
}

const done = (sent: Promise<unknown>): Promise<void> => sent.then(() => undefined);

/** The S3 server's own word, through the SDK alone. */
export interface S3Truth {
  names(): Promise<readonly string[]>;
  bucket(name: string): Promise<TrueBucket | undefined>;
  removeBucket(name: string): Promise<void>;
  put(bucket: string, key: string): Promise<void>;
  remove(bucket: string, key: string): Promise<void>;
  close(): void;
}

export function s3Truth(
  server: Pick<S3Server, "url" | "region" | "accessKeyId" | "secretAccessKey">,
): S3Truth {
  const { url: endpoint, region, accessKeyId, secretAccessKey } = server;
  const s3 = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  const names = async () =>
    ((await s3.send(new ListBucketsCommand())).Buckets ?? []).flatMap(({ Name }) => Name ?? []);
  return {
    names,
    async bucket(name) {
      if (!(await names()).includes(name)) return undefined;
      const tagging = s3.send(new GetBucketTaggingCommand({ Bucket: name })).then(
        ({ TagSet = [] }) => TagSet,
        () => [],
      );
      const { Status } = await s3.send(new GetBucketVersioningCommand({ Bucket: name }));
      const tags = Object.fromEntries((await tagging).map(({ Key = "", Value = "" }) => [Key, Value]));
      return { tags, versioning: Status };
    },
    // moto hands the tags of a deleted bucket on to the next one of that name; S3 does not.
    async removeBucket(Bucket) {
      await s3.send(new DeleteBucketTaggingCommand({ Bucket }));
      await s3.send(new DeleteBucketCommand({ Bucket }));
    },
    put: (Bucket, Key) => done(s3.send(new PutObjectCommand({ Bucket, Key, Body: "x" }))),
    remove: (Bucket, Key) => done(s3.send(new DeleteObjectCommand({ Bucket, Key }))),
    close: () => s3.destroy(),
  };
}
