import {
  DeleteBucketIntelligentTieringConfigurationCommand,
  type IntelligentTieringConfiguration,
  ListBucketIntelligentTieringConfigurationsCommand,
  PutBucketIntelligentTieringConfigurationCommand,
} from "@aws-sdk/client-s3";
import { isList, type SettingValue } from "@drover/external";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { listById } from "../list-by-id.ts";
import { toApi } from "../api-shape.ts";
import { sorted } from "../canonical.ts";
import { configurationId, configurationsSetting, maxConfigurations } from "./configurations-setting.ts";
import { filterToApi, objectFilterSpec, withCanonicalFilter } from "./configuration-filter.ts";

const configuration = z.object({
  id: configurationId,
  filter: objectFilterSpec,
  status: z.enum(["Enabled", "Disabled"]).default("Enabled"),
  tierings: z
    .array(
      z.object({
        days: z.int().min(90).max(730).describe("Days without access. At least 180 for DEEP_ARCHIVE_ACCESS."),
        accessTier: z.enum(["ARCHIVE_ACCESS", "DEEP_ARCHIVE_ACCESS"]),
      }),
    )
    .min(1)
    .max(2),
});
type Configuration = z.output<typeof configuration>;

export const intelligentTieringSpec = listById(configuration)
  .max(maxConfigurations)
  .describe("The archive tiers for objects of the storage class INTELLIGENT_TIERING that are not read.");

export const intelligentTiering = (call: BucketCall, wanted: readonly Configuration[] | undefined) =>
  configurationsSetting(call, {
    name: "intelligentTiering",
    wanted,
    async page({ client, bucket, http }, token) {
      const command = new ListBucketIntelligentTieringConfigurationsCommand({ ...bucket, ...token });
      const answer = await client.send(command, http);
      return { ...answer, items: answer.IntelligentTieringConfigurationList };
    },
    toApi: ({ id, filter, ...rest }: Configuration): IntelligentTieringConfiguration => ({
      ...toApi(rest),
      Id: id,
      Filter: filterToApi(filter),
    }),
    put: ({ client, bucket, http }, Id, api) =>
      client.send(
        new PutBucketIntelligentTieringConfigurationCommand({
          ...bucket,
          Id,
          IntelligentTieringConfiguration: api,
        }),
        http,
      ),
    remove: ({ client, bucket, http }, Id) =>
      client.send(new DeleteBucketIntelligentTieringConfigurationCommand({ ...bucket, Id }), http),
    canonical,
  });

function canonical(item: SettingValue): SettingValue {
  const { tierings, ...rest } = withCanonicalFilter(item);
  return { ...rest, tierings: isList(tierings) ? sorted(tierings) : undefined };
}
