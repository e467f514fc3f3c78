import type { S3Client } from "@aws-sdk/client-s3";

/** The parameters of every call for one bucket. */
export interface BucketCall {
  readonly client: S3Client;
  readonly bucket: { readonly Bucket: string; readonly ExpectedBucketOwner: string | undefined };
  readonly http: { readonly abortSignal: AbortSignal };
}
