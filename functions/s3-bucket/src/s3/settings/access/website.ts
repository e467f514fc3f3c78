import {
  DeleteBucketWebsiteCommand,
  GetBucketWebsiteCommand,
  PutBucketWebsiteCommand,
} from "@aws-sdk/client-s3";
import type { SettingValue } from "@drover/external";
import { canonicalJson } from "@drover/json";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";
import { fieldsOf, listOf } from "../canonical.ts";

const key = z.string().min(1).max(1024);
const hostName = z.string().min(1).max(253);
const protocol = z.enum(["http", "https"]);

const routingRule = z.object({
  condition: z
    .object({
      httpErrorCodeReturnedEquals: z
        .string()
        .regex(/^[45][0-9]{2}$/)
        .optional(),
      keyPrefixEquals: z.string().min(1).max(1024).optional(),
    })
    .optional()
    .describe("The requests that the rule is for. Left out: all."),
  redirect: z.object({
    hostName: hostName.optional(),
    httpRedirectCode: z
      .string()
      .regex(/^3[0-9]{2}$/)
      .optional(),
    protocol: protocol.optional(),
    replaceKeyPrefixWith: z.string().max(1024).optional(),
    replaceKeyWith: key.optional(),
  }),
});

export const websiteSpec = z
  .object({
    indexDocument: z
      .object({ suffix: z.string().min(1).max(1024) })
      .optional()
      .describe("The object for requests that end with a slash: index.html for a/b/ is a/b/index.html."),
    errorDocument: z.object({ key }).optional(),
    redirectAllRequestsTo: z
      .object({ hostName, protocol: protocol.optional() })
      .optional()
      .describe("In place of all other fields."),
    routingRules: z
      .array(routingRule)
      .min(1)
      .max(50)
      .optional()
      .describe("The first rule that fits applies."),
  })
  .describe("How the bucket is served as a website.");

export const website = (call: BucketCall, wanted: z.output<typeof websiteSpec> | undefined) =>
  valueSetting(call, {
    name: "website",
    wanted,
    async read({ client, bucket, http }) {
      const answer = await client.send(new GetBucketWebsiteCommand(bucket), http);
      const { IndexDocument, ErrorDocument, RedirectAllRequestsTo, RoutingRules } = answer;
      return { IndexDocument, ErrorDocument, RedirectAllRequestsTo, RoutingRules };
    },
    absent: "NoSuchWebsiteConfiguration",
    write: ({ client, bucket, http }, value) =>
      client.send(new PutBucketWebsiteCommand({ ...bucket, WebsiteConfiguration: toApi(value) }), http),
    remove: ({ client, bucket, http }) => client.send(new DeleteBucketWebsiteCommand(bucket), http),
    canonical: (value) => {
      const fields = fieldsOf(value);
      return { ...fields, routingRules: listOf(fields["routingRules"]).map(canonicalRule) };
    },
  });

/** As text: a rule with one more field is another rule. A condition without fields is none. */
function canonicalRule(value: SettingValue): SettingValue {
  const { condition, redirect = {} } = fieldsOf(value);
  return canonicalJson({ condition: fieldsOf(condition), redirect });
}
