import {
  Event,
  GetBucketNotificationConfigurationCommand,
  type LambdaFunctionConfiguration,
  PutBucketNotificationConfigurationCommand,
  type QueueConfiguration,
  type TopicConfiguration,
} from "@aws-sdk/client-s3";
import { checkedAtRun } from "@drover/controller";
import { isList, type Setting, type SettingValue } from "@drover/external";
import { canonicalJson } from "@drover/json";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { listSetting } from "../bucket-setting.ts";
import { fieldsOf, sorted } from "../canonical.ts";
import { listById, repeatedIdProblem } from "../list-by-id.ts";

const id = z
  .string()
  .min(1)
  .max(255)
  .describe("Unique in all three lists. Configurations with other ids are left alone.");
const arn = z.string().min(1).max(2048);
const events = z.array(z.enum(Event)).min(1).max(100);
const filter = z
  .object({
    key: z.object({
      filterRules: z
        .array(z.object({ name: z.enum(["prefix", "suffix"]), value: z.string().max(1024) }))
        .max(2),
    }),
  })
  .optional()
  .describe("The keys of the objects. Left out: all.");
const lambdaFunction = z.object({ id, lambdaFunctionArn: arn, events, filter });
const queue = z.object({ id, queueArn: arn, events, filter });
const topic = z.object({ id, topicArn: arn, events, filter });
const perBucket = 100;

// `skipDestinationValidation` is left out: it is a parameter of the request, and no state of the bucket.
const fields = z.object({
  lambdaFunctionConfigurations: listById(lambdaFunction).max(perBucket).default([]),
  queueConfigurations: listById(queue).max(perBucket).default([]),
  topicConfigurations: listById(topic).max(perBucket).default([]),
  eventBridge: z
    .boolean()
    .optional()
    .describe("Send all events to Amazon EventBridge (the API's EventBridgeConfiguration)."),
});
const configurationsOf = (notification: z.output<typeof fields>) => [
  ...notification.lambdaFunctionConfigurations,
  ...notification.queueConfigurations,
  ...notification.topicConfigurations,
];

export const notificationSpec = fields
  .refine((value) => repeatedIdProblem(configurationsOf(value)) === undefined, {
    error: ({ input }) => repeatedIdProblem(configurationsOf(fields.parse(input))),
    // An id that is repeated in one list has been reported already.
    when: ({ issues }) => issues.length === 0,
    ...checkedAtRun,
  })
  .describe("Where S3 sends the events of the bucket. Configurations of others are left alone.");
type Notification = z.output<typeof notificationSpec>;
type Item = z.output<typeof lambdaFunction> | z.output<typeof queue> | z.output<typeof topic>;
type Api = LambdaFunctionConfiguration | QueueConfiguration | TopicConfiguration;

/** The configurations of all three lists, by id, and as the item "" if events are sent to EventBridge. */
export function notification(call: BucketCall, wanted: Notification | undefined): Setting {
  let current = false;
  const asked = wanted?.eventBridge;
  const configurations = listSetting(call, {
    name: "notification",
    wanted: wanted && configurationsOf(wanted),
    async read({ client, bucket, http }): Promise<Api[]> {
      const answer = await client.send(new GetBucketNotificationConfigurationCommand(bucket), http);
      current = answer.EventBridgeConfiguration !== undefined;
      const {
        LambdaFunctionConfigurations = [],
        QueueConfigurations = [],
        TopicConfigurations = [],
      } = answer;
      return [...LambdaFunctionConfigurations, ...QueueConfigurations, ...TopicConfigurations];
    },
    idOf: ({ Id }) => Id,
    toApi: ({ id: Id, ...item }: Item): Api => ({ Id, ...toApi(item) }),
    write({ client, bucket, http }, { all, removed }) {
      const eventBridge = asked ?? (current && !removed.includes(""));
      return client.send(
        new PutBucketNotificationConfigurationCommand({
          ...bucket,
          NotificationConfiguration: {
            LambdaFunctionConfigurations: all.filter((each) => "LambdaFunctionArn" in each),
            QueueConfigurations: all.filter((each) => "QueueArn" in each),
            TopicConfigurations: all.filter((each) => "TopicArn" in each),
            EventBridgeConfiguration: eventBridge ? {} : undefined,
          },
        }),
        http,
      );
    },
    canonical,
    general: {
      wanted: asked === undefined ? undefined : { eventBridge: asked },
      current: () => ({ eventBridge: current }),
    },
  });
  return { ...configurations, removedAs: { eventBridge: false } };
}

/** The filter as text: a configuration with one more rule is another one. The order of events does not matter. */
function canonical(item: SettingValue): SettingValue {
  const { events, filter, ...rest } = fieldsOf(item);
  const { filterRules } = fieldsOf(fieldsOf(filter)["key"]);
  return {
    ...rest,
    events: isList(events) ? sorted(events) : undefined,
    filter: canonicalJson(isList(filterRules) ? sorted(filterRules.map(canonicalRule)) : []),
  };
}

/** AWS returns `Prefix` for `prefix`: https://github.com/aws/aws-sdk/issues/389 */
function canonicalRule(rule: SettingValue): SettingValue {
  const { name, value } = fieldsOf(rule);
  return { name: typeof name === "string" ? name.toLowerCase() : undefined, value };
}
