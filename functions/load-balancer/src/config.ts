import { awsSettings, isRequestTime } from "drover/aws";
import { durationInMs, functionSettings, nonSecret, readSettings } from "drover/runtime";
import { z } from "zod";

/** The function's settings for AWS. All values are text, as in an environment: `elbRegion` is `DROVER_ELB_REGION`. */
export const elbConfigSchema = z.object({
  /** The address of the server for load balancers. Default: AWS. */
  elbEndpoint: awsSettings.endpoint,
  /** The region of load balancers if their spec names none. */
  elbRegion: nonSecret(awsSettings.region),
  /** The roles that objects may name in `assumeRole`, as `DROVER_S3_ROLES`. */
  elbRoles: nonSecret(awsSettings.roles),
  /** The address of the server that gives credentials for roles. Default: that of `DROVER_ELB_ENDPOINT`, or AWS. */
  elbStsEndpoint: awsSettings.stsEndpoint,
  /** The longest time that one request may take. */
  elbTimeout: nonSecret(durationInMs.default(10_000).refine(isRequestTime, { error: "give 15s at most" })),
});

export type ElbConfig = z.output<typeof elbConfigSchema>;

/** The settings of this process, from its environment. */
export const functionConfig = () => readSettings(functionSettings.extend(elbConfigSchema.shape), process.env);
