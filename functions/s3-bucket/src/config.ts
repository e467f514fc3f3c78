import { awsSettings, isRequestTime } from "@drover/aws";
import { functionSettings, nonSecret, readSettings, durationInMs } from "@drover/runtime";
import { z } from "zod";

/**
 * The function's settings for its S3 server. All values are text, as in an environment: `s3Endpoint` is
 * `DROVER_S3_ENDPOINT`.
 */
export const s3ConfigSchema = z.object({
  /** The address of the S3 server. Default: AWS. */
  s3Endpoint: awsSettings.endpoint,
  /** The region of buckets if their spec names none. */
  s3Region: nonSecret(awsSettings.region),
  /** `true`: the bucket's name is in the path, not in the host name. Default: true for any server but AWS. */
  s3ForcePathStyle: nonSecret(
    z
      .enum(["true", "false"], { error: "give true or false" })
      .transform((text) => text === "true")
      .optional(),
  ),
  /**
   * The roles that objects may name in `assumeRole` without keys of their own: ARNs with commas between them, in which
   * `{namespace}` stands for the object's namespace. Default: none.
   */
  s3Roles: nonSecret(awsSettings.roles),
  /** The address of the server that gives credentials for roles. Default: that of `DROVER_S3_ENDPOINT`, or AWS. */
  s3StsEndpoint: awsSettings.stsEndpoint,
  /** The longest time that one request may take. */
  s3Timeout: nonSecret(durationInMs.default(10_000).refine(isRequestTime, { error: "give 15s at most" })),
});

export type S3Config = z.output<typeof s3ConfigSchema>;

/** The settings of this process, from its environment. */
export const functionConfig = () => readSettings(functionSettings.extend(s3ConfigSchema.shape), process.env);
