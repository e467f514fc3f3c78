import { maxRequestTime } from "@drover/external";
import { functionSettings, nonSecret, readSettings, durationInMs } from "@drover/runtime";
import { z } from "zod";

/**
 * The function's settings for its S3 server. All values are text, as in an environment: `s3Endpoint` is
 * `DROVER_S3_ENDPOINT`.
 */
export const s3ConfigSchema = z.object({
  /** The address of the server, unless it is AWS. A setting of the process, never of an object: see `bucket.ts`. */
  s3Endpoint: z
    .url({ protocol: /^https?$/, error: "give an address such as http://127.0.0.1:9000" })
    .optional(),
  /** The region of buckets if their spec names none. */
  s3Region: nonSecret(z.string().min(1).default("us-east-1")),
  /** `true`: the bucket's name is in the path, not in the host name. Default: true for any server but AWS. */
  s3ForcePathStyle: nonSecret(
    z
      .enum(["true", "false"], { error: "give true or false" })
      .transform((text) => text === "true")
      .optional(),
  ),
  /**
   * The roles that objects may name in `assumeRole` without keys of their own: ARNs with commas between them, in which
   * `{namespace}` stands for the object's namespace. Default: none. Otherwise the author of an object in any namespace
   * could act as every role that this function may assume.
   */
  s3Roles: nonSecret(
    z
      .string()
      .default("")
      .transform((text) =>
        text
          .split(",")
          .map((arn) => arn.trim())
          .filter((arn) => arn !== ""),
      ),
  ),
  /** The address of the server that gives credentials for roles. Default: the S3 server, or AWS. */
  s3StsEndpoint: z
    .url({ protocol: /^https?$/, error: "give an address such as http://127.0.0.1:9000" })
    .optional(),
  /** The longest time that one request may take. */
  s3Timeout: nonSecret(
    durationInMs
      .default(10_000)
      .refine((timeout) => timeout > 0 && timeout <= maxRequestTime, { error: "give 15s at most" }),
  ),
});

export type S3Config = z.output<typeof s3ConfigSchema>;

/** The settings of this process, from its environment. */
export const functionConfig = () => readSettings(functionSettings.extend(s3ConfigSchema.shape), process.env);
