import type { Resolved } from "@drover/external";
import {
  type AnalyticsConfiguration,
  DeleteBucketAnalyticsConfigurationCommand,
  ListBucketAnalyticsConfigurationsCommand,
  PutBucketAnalyticsConfigurationCommand,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import { bucketRef, oneBucket, oneBucketRule } from "../bucket-or-ref.ts";
import type { BucketCall } from "../../bucket-call.ts";
import { listById } from "../list-by-id.ts";
import { toApi } from "../api-shape.ts";
import {
  configurationId,
  configurationsSetting,
  maxConfigurations,
  reportsBucket,
  reportsOwner,
  reportsPrefix,
} from "./configurations-setting.ts";
import { filterToApi, objectFilterSpec, withCanonicalFilter } from "./configuration-filter.ts";

const dataExport = z.object({
  outputSchemaVersion: z.literal("V_1").default("V_1"),
  destination: z.object({
    s3BucketDestination: z
      .object({
        format: z.literal("CSV").default("CSV"),
        bucketAccountId: reportsOwner,
        bucket: reportsBucket.optional(),
        bucketRef,
        prefix: reportsPrefix,
      })
      .refine(...oneBucket("bucket"))
      .meta(oneBucketRule("bucket")),
  }),
});

const configuration = z.object({
  id: configurationId,
  filter: objectFilterSpec,
  storageClassAnalysis: z
    .object({ dataExport: dataExport.optional().describe("Left out: S3 analyses, and exports nothing.") })
    .default({}),
});
type Configuration = Resolved<z.output<typeof configuration>>;

export const analyticsSpec = listById(configuration)
  .max(maxConfigurations)
  .describe("Analyses of how objects are read, for a choice of storage classes.");

export const analytics = (call: BucketCall, wanted: readonly Configuration[] | undefined) =>
  configurationsSetting(call, {
    name: "analytics",
    wanted,
    async page({ client, bucket, http }, token) {
      const command = new ListBucketAnalyticsConfigurationsCommand({ ...bucket, ...token });
      const answer = await client.send(command, http);
      return { ...answer, items: answer.AnalyticsConfigurationList };
    },
    toApi: ({ id, filter, ...rest }: Configuration): AnalyticsConfiguration => ({
      ...toApi(rest),
      Id: id,
      Filter: filterToApi(filter),
    }),
    put: ({ client, bucket, http }, Id, AnalyticsConfiguration) =>
      client.send(
        new PutBucketAnalyticsConfigurationCommand({ ...bucket, Id, AnalyticsConfiguration }),
        http,
      ),
    remove: ({ client, bucket, http }, Id) =>
      client.send(new DeleteBucketAnalyticsConfigurationCommand({ ...bucket, Id }), http),
    canonical: withCanonicalFilter,
  });
