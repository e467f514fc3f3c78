import type { S3Answer, S3Stub } from "./s3-fault-proxy.ts";

/**
 * The part of S3 that the server of the tests (moto 5) lacks: the payer, and the configurations with one request each.
 * moto has inventories, but takes the removal of one for the removal of the bucket, and returns all of them as
 * `IncludedObjectVersions: All`.
 *
 * As in the S3 API reference (https://docs.aws.amazon.com/AmazonS3/latest/API/), in PutBucket...Configuration,
 * ListBucket...Configurations and GetBucketRequestPayment: a PUT replaces the configuration with that id; there are up
 * to 1,000 (`TooManyConfigurations`), and a list has pages of 100; a filter has one condition, or `And` with at least
 * two; an unknown id is a `NoSuchConfiguration`; a payer that was never set is the owner.
 *
 * Any bucket exists here, and keeps its configurations when it is deleted.
 */
export function s3ConfigurationsStub(): S3Stub {
  const stored = new Map<string, Map<string, string>>();
  return ({ operation, bucket, url, body }) => {
    const [, verb = "", part = ""] = operations.exec(operation) ?? [];
    if (part === "") return undefined;
    const key = `${bucket} ${part}`;
    const items = stored.get(key) ?? new Map<string, string>();
    stored.set(key, items);
    const { searchParams } = new URL(url, "http://s3");
    if (part === "RequestPayment") {
      if (verb === "Put") items.set("", body);
      return xml(items.get("") ?? defaultPayer);
    }
    const id = searchParams.get("id");
    if (id === null) return page(items, searchParams.get("continuation-token"));
    if (verb === "Put") return put(items, id, body);
    const found = items.get(id);
    if (found === undefined) return refusal(404, "NoSuchConfiguration");
    if (verb === "Get") return xml(found);
    items.delete(id);
    return { status: 204, body: "" };
  };
}

const operations =
  /^(Get|Put|Delete)Bucket((?:Analytics|IntelligentTiering|Inventory|Metrics)Configuration|RequestPayment)$/;

const defaultPayer = "<RequestPaymentConfiguration><Payer>BucketOwner</Payer></RequestPaymentConfiguration>";

function put(items: Map<string, string>, id: string, body: string): S3Answer {
  const [, filter = "<Prefix>"] = /<Filter>(.*)<\/Filter>/s.exec(body) ?? [];
  const [, several] = /^<And>(.*)<\/And>$/s.exec(filter) ?? [];
  const count = (several ?? filter).match(/<(Prefix|Tag|AccessPointArn)>/g)?.length ?? 0;
  const isValid = several === undefined ? count === 1 : count > 1;
  if (!isValid || !body.includes(`<Id>${id}</Id>`)) return refusal(400, "MalformedXML");
  if (!items.has(id) && items.size === 1_000) return refusal(400, "TooManyConfigurations");
  items.set(id, body);
  return { status: 200, body: "" };
}

const pageSize = 100;

/** The token of a page is the number of items before it. */
function page(items: ReadonlyMap<string, string>, token: string | null): S3Answer {
  const start = Number(token ?? 0);
  const end = start + pageSize;
  const next = `<NextContinuationToken>${end}</NextContinuationToken>`;
  const shown = [...items.keys()].sort().slice(start, end);
  const text = shown.map((id) => items.get(id)?.replace(/^<\?[^>]*>/, "")).join("");
  const isTruncated = items.size > end;
  return xml(`<List><IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? next : ""}${text}</List>`);
}

const xml = (body: string): S3Answer => ({ status: 200, body });

const refusal = (status: number, code: string): S3Answer => ({
  status,
  body: `<Error><Code>${code}</Code><Message>refused by the stub</Message></Error>`,
});
