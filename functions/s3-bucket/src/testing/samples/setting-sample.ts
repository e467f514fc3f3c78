import type { S3Client } from "@aws-sdk/client-s3";
import type { z } from "zod";
import type { Bucket } from "../../bucket.ts";

type Spec = z.input<typeof Bucket.spec>;

/** A setting with two values, as a spec has them and as the SDK reads them. */
export interface SettingSample {
  readonly name: keyof Spec;
  /** Creates the buckets that the values refer to, once per server. */
  readonly prepare?: (s3: S3Client) => Promise<unknown>;
  readonly specs: readonly [first: Spec, second: Spec];
  /** The states that the SDK reads after each of them. */
  readonly states: readonly [first: unknown, second: unknown];
  /** The state that the SDK reads if nothing is set. Undefined if it gets an error. */
  readonly without: unknown;
  /** Reads it with the bare SDK. */
  readonly read: (s3: S3Client, Bucket: string) => Promise<unknown>;
  /** Writes the first value with the bare SDK. */
  readonly write: (s3: S3Client, Bucket: string) => Promise<unknown>;
  /** Writes another value than the first with the bare SDK. */
  readonly drift: (s3: S3Client, Bucket: string) => Promise<unknown>;
}

/** The answer, or undefined if S3 answers with an error: the bucket does not have the setting. */
export const orUndefined = (sent: Promise<unknown>): Promise<unknown> => sent.catch(() => undefined);
