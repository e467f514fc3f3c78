import {
  DeleteBucketMetricsConfigurationCommand,
  ListBucketMetricsConfigurationsCommand,
  type MetricsConfiguration,
  PutBucketMetricsConfigurationCommand,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { listById } from "../list-by-id.ts";
import { configurationId, configurationsSetting, maxConfigurations } from "./configurations-setting.ts";
import { filterSpec } from "../objects/object-filter.ts";
import { conditionsOf, filterToApi, withCanonicalFilter } from "./configuration-filter.ts";

const accessPointArn = z.string().min(1).max(2048).optional().describe("Requests through this access point.");

const configuration = z.object({
  id: configurationId.regex(/^[A-Za-z0-9._-]+$/),
  filter: filterSpec({ accessPointArn }).optional().describe("The requests that are counted. Left out: all."),
});
type Configuration = z.output<typeof configuration>;

export const metricsSpec = listById(configuration)
  .max(maxConfigurations)
  .describe("Metrics of requests, in CloudWatch under the id.");

export const metrics = (call: BucketCall, wanted: readonly Configuration[] | undefined) =>
  configurationsSetting(call, {
    name: "metrics",
    wanted,
    async page({ client, bucket, http }, token) {
      const command = new ListBucketMetricsConfigurationsCommand({ ...bucket, ...token });
      const answer = await client.send(command, http);
      return { ...answer, items: answer.MetricsConfigurationList };
    },
    toApi: ({ id, filter }: Configuration): MetricsConfiguration => ({
      Id: id,
      Filter: metricsFilter(filter),
    }),
    put: ({ client, bucket, http }, Id, MetricsConfiguration) =>
      client.send(new PutBucketMetricsConfigurationCommand({ ...bucket, Id, MetricsConfiguration }), http),
    remove: ({ client, bucket, http }, Id) =>
      client.send(new DeleteBucketMetricsConfigurationCommand({ ...bucket, Id }), http),
    canonical: withCanonicalFilter,
  });

function metricsFilter(filter: Configuration["filter"]): MetricsConfiguration["Filter"] {
  const AccessPointArn = filter?.and?.accessPointArn ?? filter?.accessPointArn;
  const conditions = conditionsOf(filter);
  if (AccessPointArn === undefined) return filterToApi(filter);
  return Object.keys(conditions).length === 0
    ? { AccessPointArn }
    : { And: { ...conditions, AccessPointArn } };
}
