import { milliseconds } from "@drover/controller";
import { functionSettings, plain, readSettings, span } from "@drover/runtime";
import { z } from "zod";

/**
 * The longest that one request to S3 may take. A bucket's creation is looked for only within the time that was written
 * down before it was asked for (`creation-intent.ts`); a request that could outlive that time could leave a bucket that
 * nobody recognises.
 */
export const longestRequest = milliseconds("15s");

/**
 * The function's settings for its S3 server. Everything is text, as an environment has it:
 * `s3Endpoint` is `DROVER_S3_ENDPOINT`.
 */
export const s3ConfigSchema = z.object({
  /** Address of the server, for anything but AWS. Of the process, never of an object: see `bucket.ts`. */
  s3Endpoint: z
    .url({ protocol: /^https?$/, error: "give an address such as http://127.0.0.1:9000" })
    .optional(),
  /** Region of buckets whose spec names none. */
  s3Region: plain(z.string().min(1).default("us-east-1")),
  /** `true`: buckets in the path, not in the host name. Default: for any server but AWS. */
  s3ForcePathStyle: plain(
    z
      .enum(["true", "false"], { error: "give true or false" })
      .transform((text) => text === "true")
      .optional(),
  ),
  /** The time that one request may take. */
  s3Timeout: plain(
    span
      .default(10_000)
      .refine((timeout) => timeout > 0 && timeout <= longestRequest, { error: "give 15s at most" }),
  ),
});

export type S3Config = z.output<typeof s3ConfigSchema>;

/** The settings of this process, from its environment. */
export const functionConfig = () => readSettings(functionSettings.extend(s3ConfigSchema.shape), process.env);
