import { S3ServiceException } from "@aws-sdk/client-s3";
import { type Setting, SettingRefusal, type SettingValue } from "@drover/external";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { type ListChange, listSetting, refusalOf } from "../bucket-setting.ts";

/** The most configurations of one kind that a bucket can have. */
export const maxConfigurations = 1_000;

export const configurationId = z
  .string()
  .min(1)
  .max(64)
  .describe("Configurations with other ids are left alone.");

/** Where S3 writes reports: a bucket, its owner and a prefix. */
export const reportsBucket = z
  .string()
  .min(1)
  .max(2048)
  .describe("The bucket's ARN, such as arn:aws:s3:::reports.");
export const reportsOwner = z
  .string()
  .length(12)
  .regex(/^\d+$/)
  .optional()
  .describe("The account that must own the bucket. Left out: its owner is not checked.");
export const reportsPrefix = z.string().min(1).max(512).optional();

/** The answer to a List...Configurations request. */
interface Page<Api> {
  readonly items: readonly Api[] | undefined;
  readonly IsTruncated?: boolean | undefined;
  readonly NextContinuationToken?: string | undefined;
}

/** How S3 reads and writes configurations, each with a request of its own. */
interface ConfigurationsSetting<Item extends { readonly id: string } & SettingValue, Api> {
  readonly name: string;
  readonly wanted: readonly Item[] | undefined;
  readonly page: (call: BucketCall, token: { readonly ContinuationToken?: string }) => Promise<Page<Api>>;
  readonly toApi: (item: Item) => Api;
  readonly put: (call: BucketCall, id: string, api: Api) => Promise<unknown>;
  readonly remove: (call: BucketCall, id: string) => Promise<unknown>;
  readonly canonical: (item: SettingValue) => SettingValue;
}

/** A setting that is a list of configurations, such as those of inventories. */
export const configurationsSetting = <
  Item extends { readonly id: string } & SettingValue,
  Api extends { readonly Id: string | undefined },
>(
  call: BucketCall,
  { name, wanted, page, toApi, put, remove, canonical }: ConfigurationsSetting<Item, Api>,
): Setting =>
  listSetting(call, {
    name,
    wanted,
    read: (to) => allPages((token) => page(to, token)),
    absent: noConfiguration,
    idOf: ({ Id }: Api) => Id,
    toApi,
    write: (to, change) =>
      writeEach(change, {
        put: (id, api) => refusalOf(put(to, id, api), name),
        remove: (id) => refusalOf(removed(remove(to, id)), name),
      }),
    canonical,
  });

async function allPages<Api>(
  page: (token: { readonly ContinuationToken?: string }) => Promise<Page<Api>>,
): Promise<readonly Api[]> {
  const all: Api[] = [];
  let next: string | undefined;
  do {
    const answer = await page(next === undefined ? {} : { ContinuationToken: next });
    all.push(...(answer.items ?? []));
    next = answer.IsTruncated === true ? answer.NextContinuationToken : undefined;
  } while (next !== undefined);
  return all;
}

const noConfiguration = "NoSuchConfiguration";

/** No error if it is gone already: an earlier request may have removed it although its answer was lost. */
const removed = (sent: Promise<unknown>): Promise<unknown> =>
  sent.catch((error: unknown) => {
    if (!(error instanceof S3ServiceException) || error.name !== noConfiguration) throw error;
  });

type Refused = Promise<SettingRefusal | undefined>;

/**
 * Writes item by item. Removes first, because the bucket may be full. After an invalid item the others are still
 * written. Any other refusal, such as a denied access, would meet the others too, and ends the write.
 */
async function writeEach<Api extends { readonly Id: string | undefined }>(
  { set, removed: ids }: ListChange<Api>,
  { put, remove }: { put: (id: string, api: Api) => Refused; remove: (id: string) => Refused },
): Refused {
  const written: string[] = [];
  let first: SettingRefusal | undefined;
  const requests = [
    ...ids.map((id) => ({ id, send: () => remove(id) })),
    ...set.map((api) => ({ id: api.Id ?? "", send: () => put(api.Id ?? "", api) })),
  ];
  for (const { id, send } of requests) {
    const refusal = await send();
    if (refusal === undefined) written.push(id);
    else first ??= ofItem(id, refusal);
    if (refusal !== undefined && refusal.reason !== "InvalidSetting") break;
  }
  return first && new SettingRefusal(first.reason, first.message, written);
}

const ofItem = (id: string, { reason, message }: SettingRefusal): SettingRefusal =>
  new SettingRefusal(reason, reason === "InvalidSetting" ? `${message} It is the item ${id}.` : message);
