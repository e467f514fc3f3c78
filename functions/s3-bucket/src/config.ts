import { awsSettings, isRequestTime } from "@drover/aws";
import { functionSettings, nonSecret, readSettings, durationInMs } from "@drover/runtime";
import { z } from "zod";

/**
 * The function's settings for its S3 server. All values are text, as in an environment: `s3Endpoint` is
 * `DROVER_S3_ENDPOINT`.
 */
export const s3ConfigSchema = z.object({
  s3Endpoint: awsSettings.endpoint,
  s3Region: nonSecret(awsSettings.region),
  /** `true`: the bucket's name is in the path, not in the host name. Default: true for any server but AWS. */
  s3ForcePathStyle: nonSecret(
    z
      .enum(["true", "false"], { error: "give true or false" })
      .transform((text) => text === "true")
      .optional(),
  ),
  s3Roles: nonSecret(awsSettings.roles),
  s3StsEndpoint: awsSettings.stsEndpoint,
  /** The longest time that one request may take. */
  s3Timeout: nonSecret(durationInMs.default(10_000).refine(isRequestTime, { error: "give 15s at most" })),
});

export type S3Config = z.output<typeof s3ConfigSchema>;

/** The settings of this process, from its environment. */
export const functionConfig = () => readSettings(functionSettings.extend(s3ConfigSchema.shape), process.env);
