import {
  DeletePublicAccessBlockCommand,
  GetPublicAccessBlockCommand,
  PutPublicAccessBlockCommand,
} from "@aws-sdk/client-s3";
import { type Setting, SettingRefusal } from "@drover/external";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { answered, refusalOf } from "../bucket-setting.ts";

const flag = z.boolean().optional();
export const publicAccessBlockSpec = z
  .object({
    blockPublicAcls: flag.describe("Refuse requests that make the bucket or an object public by an ACL."),
    ignorePublicAcls: flag.describe("Ignore ACLs that make the bucket or an object public."),
    blockPublicPolicy: flag.describe("Refuse policies that make the bucket public."),
    restrictPublicBuckets: flag.describe("If the policy is public, allow the account and AWS services only."),
  })
  .describe("Protection from public access. A switch that is left out stays as it is.");
type Switches = z.output<typeof publicAccessBlockSpec>;

/** The four switches, each of them an item: S3 writes them together, and a spec may name some. */
export function publicAccessBlock(call: BucketCall, wanted: Switches = {}): Setting {
  const { client, bucket, http } = call;
  const name = "publicAccessBlock";
  return {
    name,
    wanted: itemsOf(wanted),
    removedAs: false,
    async read() {
      const answer = await answered(client.send(new GetPublicAccessBlockCommand(bucket), http), {
        doing: "read",
        name,
        absent: "NoSuchPublicAccessBlockConfiguration",
      });
      if (answer instanceof SettingRefusal) return answer;
      const { BlockPublicAcls, IgnorePublicAcls, BlockPublicPolicy, RestrictPublicBuckets } =
        answer?.PublicAccessBlockConfiguration ?? {};
      return itemsOf({
        blockPublicAcls: BlockPublicAcls ?? false,
        ignorePublicAcls: IgnorePublicAcls ?? false,
        blockPublicPolicy: BlockPublicPolicy ?? false,
        restrictPublicBuckets: RestrictPublicBuckets ?? false,
      });
    },
    write({ all }) {
      const PublicAccessBlockConfiguration = toApi(publicAccessBlockSpec.parse(Object.fromEntries(all)));
      const sent = ![...all.values()].includes(true)
        ? client.send(new DeletePublicAccessBlockCommand(bucket), http)
        : client.send(new PutPublicAccessBlockCommand({ ...bucket, PublicAccessBlockConfiguration }), http);
      return refusalOf(sent, name);
    },
  };
}

const itemsOf = (switches: Switches) =>
  new Map(
    Object.entries(switches).flatMap(([field, on]) => (on === undefined ? [] : [[field, on] as const])),
  );
