import {
  GetBucketRequestPaymentCommand,
  type Payer,
  PutBucketRequestPaymentCommand,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { valueSetting } from "../bucket-setting.ts";

export const requestPaymentSpec = z
  .object({ payer: z.enum(["BucketOwner", "Requester"]) })
  .describe("The account that pays for requests and downloads.");

type RequestPayment = z.output<typeof requestPaymentSpec>;

export const requestPayment = (call: BucketCall, wanted: RequestPayment | undefined) =>
  valueSetting(call, {
    name: "requestPayment",
    wanted,
    async read({ client, bucket, http }) {
      const { Payer } = await client.send(new GetBucketRequestPaymentCommand(bucket), http);
      return Payer && { Payer };
    },
    write: (to, { payer }: RequestPayment) => put(to, payer),
    // A bucket always has a payer.
    remove: (to) => put(to, "BucketOwner"),
    removedAs: { payer: "BucketOwner" },
  });

const put = ({ client, bucket, http }: BucketCall, Payer: Payer) =>
  client.send(
    new PutBucketRequestPaymentCommand({ ...bucket, RequestPaymentConfiguration: { Payer } }),
    http,
  );
