import {
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  type GetBucketLifecycleConfigurationCommandOutput,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
} from "@aws-sdk/client-s3";
import { isList, type Setting, type SettingValue } from "@drover/external";
import { canonicalJson } from "@drover/json";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { listSetting } from "../bucket-setting.ts";
import { fieldsOf } from "../canonical.ts";
import { listById } from "../list-by-id.ts";
import { allObjects, canonicalFilter, filterSpec } from "./object-filter.ts";

const days = z.int().min(0).max(2_147_483_647);
const size = z.int().min(0).max(5_497_558_138_880);
const storageClass = z.enum([
  "STANDARD_IA",
  "ONEZONE_IA",
  "INTELLIGENT_TIERING",
  "GLACIER_IR",
  "GLACIER",
  "DEEP_ARCHIVE",
]);
const date = z.iso.date().describe("A day, such as 2027-01-31. S3 acts at midnight UTC.");

const rule = z.object({
  id: z.string().min(1).max(255).describe("Rules with other ids are left alone."),
  status: z.enum(["Enabled", "Disabled"]).default("Enabled"),
  filter: filterSpec({ objectSizeGreaterThan: size.optional(), objectSizeLessThan: size.optional() })
    .optional()
    .describe("The objects that the rule is for. Left out: all."),
  expiration: z
    .object({
      date: date.optional(),
      days: days.optional(),
      expiredObjectDeleteMarker: z.boolean().optional(),
    })
    .optional(),
  transitions: z
    .array(z.object({ date: date.optional(), days: days.optional(), storageClass }))
    .max(10)
    .optional(),
  noncurrentVersionExpiration: z
    .object({ noncurrentDays: days, newerNoncurrentVersions: z.int().min(1).max(100).optional() })
    .optional(),
  noncurrentVersionTransitions: z
    .array(
      z.object({
        noncurrentDays: days,
        newerNoncurrentVersions: z.int().min(1).max(100).optional(),
        storageClass,
      }),
    )
    .max(10)
    .optional(),
  abortIncompleteMultipartUpload: z.object({ daysAfterInitiation: days }).optional(),
});
type Rule = z.output<typeof rule>;

export const lifecycleSpec = z
  .object({
    transitionDefaultMinimumObjectSize: z
      .enum(["all_storage_classes_128K", "varies_by_storage_class"])
      .optional()
      .describe("The size below which objects are not moved, for rules without a size of their own."),
    rules: listById(rule).max(1000),
  })
  .describe(
    "Rules that delete objects or move them to other storage classes. Rules of others are left alone.",
  );
type Lifecycle = z.output<typeof lifecycleSpec>;
type MinimumSize = GetBucketLifecycleConfigurationCommandOutput["TransitionDefaultMinimumObjectSize"];

/** The rules of a bucket's lifecycle, by id, and as the item "" what applies to all of them. */
export function lifecycle(call: BucketCall, wanted: Lifecycle | undefined): Setting {
  let current: MinimumSize;
  const asked = wanted?.transitionDefaultMinimumObjectSize;
  const general = (size: MinimumSize) => size && { transitionDefaultMinimumObjectSize: size };
  return listSetting(call, {
    name: "lifecycle",
    wanted: wanted?.rules,
    async read({ client, bucket, http }) {
      const answer = await client.send(new GetBucketLifecycleConfigurationCommand(bucket), http);
      current = answer.TransitionDefaultMinimumObjectSize;
      return answer.Rules;
    },
    absent: "NoSuchLifecycleConfiguration",
    idOf: ({ ID }: LifecycleRule) => ID,
    toApi: (item: Rule): LifecycleRule => toApi({ ...item, filter: item.filter ?? allObjects }),
    write: ({ client, bucket, http }, { all: Rules }) =>
      Rules.length === 0
        ? client.send(new DeleteBucketLifecycleCommand(bucket), http)
        : client.send(
            new PutBucketLifecycleConfigurationCommand({
              ...bucket,
              TransitionDefaultMinimumObjectSize: asked ?? current,
              LifecycleConfiguration: { Rules: [...Rules] },
            }),
            http,
          ),
    canonical: canonicalRule,
    general: { wanted: general(asked), current: () => general(current) },
  });
}

/**
 * The filter as text: a rule with one more condition is another rule. Rules of old clients have a prefix in place of a
 * filter.
 */
function canonicalRule(value: SettingValue): SettingValue {
  const { prefix, filter, expiration, transitions, ...rest } = fieldsOf(value);
  return {
    ...rest,
    filter: canonicalJson(canonicalFilter(filter, prefix)),
    expiration: expiration && withDay(expiration),
    transitions: isList(transitions) ? transitions.map(withDay) : undefined,
  };
}

/** S3 keeps a day as its midnight. */
function withDay(value: SettingValue): SettingValue {
  const fields = fieldsOf(value);
  return typeof fields["date"] === "string" ? { ...fields, date: fields["date"].slice(0, 10) } : fields;
}
