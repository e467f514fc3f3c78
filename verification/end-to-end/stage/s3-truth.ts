import { ListBucketsCommand } from "@aws-sdk/client-s3";
import { bucketHandle, s3ClientOf } from "../../../functions/s3-bucket/src/testing/bucket-handle.ts";

/** A bucket as the S3 server reports it. */
export interface TrueBucket {
  readonly tags: Readonly<Record<string, string>>;
  readonly versioning: string | undefined;
}

/** The S3 server's own word, through the SDK alone. */
export interface S3Truth {
  names(): Promise<readonly string[]>;
  bucket(name: string): Promise<TrueBucket | undefined>;
  removeBucket(name: string): Promise<void>;
  put(bucket: string, key: string): Promise<unknown>;
  remove(bucket: string, key: string): Promise<unknown>;
  close(): void;
}

export function s3Truth(server: Parameters<typeof s3ClientOf>[0]): S3Truth {
  const s3 = s3ClientOf(server);
  return {
    async names() {
      const { Buckets = [] } = await s3.send(new ListBucketsCommand());
      return Buckets.flatMap(({ Name }) => Name ?? []);
    },
    async bucket(name) {
      const state = await bucketHandle(s3, name).state();
      return state && { tags: state.tags, versioning: state.versioning };
    },
    removeBucket: (name) => bucketHandle(s3, name).delete(),
    put: (bucket, key) => bucketHandle(s3, bucket).put(key),
    remove: (bucket, key) => bucketHandle(s3, bucket).deleteObject(key),
    close: () => s3.destroy(),
  };
}
