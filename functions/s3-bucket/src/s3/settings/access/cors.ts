import { DeleteBucketCorsCommand, GetBucketCorsCommand, PutBucketCorsCommand } from "@aws-sdk/client-s3";
import type { SettingValue } from "@drover/external";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";
import { fieldsOf, listOf, sorted } from "../canonical.ts";

const header = z.string().min(1).max(1024);

export const corsSpec = z
  .object({
    corsRules: z
      .array(
        z.object({
          id: z.string().min(1).max(255).optional(),
          allowedMethods: z
            .array(z.enum(["GET", "PUT", "HEAD", "POST", "DELETE"]))
            .min(1)
            .max(5),
          allowedOrigins: z
            .array(z.string().min(1).max(2048))
            .min(1)
            .max(100)
            .describe("Such as https://example.com. A * in it stands for any text."),
          allowedHeaders: z.array(header).max(100).optional().describe("Headers that a request may have."),
          exposeHeaders: z
            .array(header)
            .max(100)
            .optional()
            .describe("Headers of a response that a page may read."),
          maxAgeSeconds: z
            .int()
            .min(0)
            .max(2_147_483_647)
            .optional()
            .describe("The time for which a browser may keep the answer to a preflight request."),
        }),
      )
      .min(1)
      .max(100)
      .describe("The first rule that fits a request applies."),
  })
  .describe("Which pages of other origins may use the bucket from a browser. Rules of others are replaced.");

export const cors = (call: BucketCall, wanted: z.output<typeof corsSpec> | undefined) =>
  valueSetting(call, {
    name: "cors",
    wanted,
    read: async ({ client, bucket, http }) => {
      const { CORSRules } = await client.send(new GetBucketCorsCommand(bucket), http);
      return { CORSRules };
    },
    absent: "NoSuchCORSConfiguration",
    write: ({ client, bucket, http }, value) =>
      client.send(new PutBucketCorsCommand({ ...bucket, CORSConfiguration: toApi(value) }), http),
    remove: ({ client, bucket, http }) => client.send(new DeleteBucketCorsCommand(bucket), http),
    canonical: (value) => ({ corsRules: listOf(fieldsOf(value)["corsRules"]).map(canonicalRule) }),
  });

/** A rule without a list allows no header, so that one with a list is another rule. */
function canonicalRule(value: SettingValue): SettingValue {
  const rule = fieldsOf(value);
  return {
    ...rule,
    allowedMethods: sorted(listOf(rule["allowedMethods"])),
    allowedOrigins: sorted(listOf(rule["allowedOrigins"])),
    allowedHeaders: sorted(listOf(rule["allowedHeaders"])),
    exposeHeaders: sorted(listOf(rule["exposeHeaders"])),
  };
}
