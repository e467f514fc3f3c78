import type { S3Client } from "@aws-sdk/client-s3";

/** What every call about one bucket needs. */
export interface BucketCall {
  readonly client: S3Client;
  readonly bucket: { readonly Bucket: string; readonly ExpectedBucketOwner: string | undefined };
  readonly http: { readonly abortSignal: AbortSignal };
}
