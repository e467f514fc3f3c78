import { AwsRefusal } from "@drover/aws";
import { ListMultipartUploadsCommand, ListObjectVersionsCommand, type S3Client } from "@aws-sdk/client-s3";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import type { BucketCall } from "./bucket-call.ts";
import { responseOrRefusal } from "./s3-errors.ts";

/** An entry in the listing of a bucket: a version of an object, a delete marker or an unfinished upload. */
export interface BucketItem {
  /** Undefined if the name is not UTF-8: the SDK has no way to send it back. */
  readonly key: string | undefined;
  /** The key for messages: quoted, with control characters escaped. */
  readonly shown: string;
  /** For a version or delete marker; `null` in a bucket that never had versioning. */
  readonly versionId?: string | undefined;
  /** For an unfinished upload. */
  readonly uploadId?: string | undefined;
  /** Unique in the bucket. */
  readonly id: string;
}

/** The position at which a listing continues. */
export interface ListMarker {
  readonly key: string | undefined;
  readonly id: string | undefined;
}

/** A page of a listing. */
export interface ItemPage {
  readonly items: readonly BucketItem[];
  /** Undefined on the last page. */
  readonly next: ListMarker | undefined;
}

/**
 * Lists a page of the versions and delete markers in a bucket, after a marker, or from the beginning.
 *
 * Names are requested URL-encoded, because XML cannot represent most control characters, and its parsers read a CR as
 * LF.
 */
export async function listVersions(
  { client, bucket, http }: BucketCall,
  after?: ListMarker,
): Promise<ItemPage | AwsRefusal> {
  const markers = after && { KeyMarker: after.key, VersionIdMarker: after.id };
  const command = new ListObjectVersionsCommand({ ...bucket, ...markers, EncodingType: "url" });
  const answer = await responseOrRefusal(client.send(command, http));
  if (answer instanceof AwsRefusal) return answer;
  const found = [...(answer.Versions ?? []), ...(answer.DeleteMarkers ?? [])];
  return {
    items: found.map(({ Key, VersionId }) => ({ ...named(Key, VersionId), versionId: VersionId })),
    next:
      answer.IsTruncated === true ? markerOf(answer.NextKeyMarker, answer.NextVersionIdMarker) : undefined,
  };
}

/** Lists a page of the unfinished uploads to a bucket, as `listVersions` does. */
export async function listUploads(
  { client, bucket, http }: BucketCall,
  after?: ListMarker,
): Promise<ItemPage | AwsRefusal> {
  const markers = after && { KeyMarker: after.key, UploadIdMarker: after.id };
  const command = new ListMultipartUploadsCommand({ ...bucket, ...markers, EncodingType: "url" });
  const answer = await responseOrRefusal(client.send(command, http));
  if (answer instanceof AwsRefusal) return answer;
  return {
    items: (answer.Uploads ?? []).map(({ Key, UploadId }) => ({
      ...named(Key, UploadId),
      uploadId: UploadId,
    })),
    next: answer.IsTruncated === true ? markerOf(answer.NextKeyMarker, answer.NextUploadIdMarker) : undefined,
  };
}

const named = (encoded = "", id = ""): Pick<BucketItem, "key" | "shown" | "id"> => {
  const key = decoded(encoded);
  return { key, shown: JSON.stringify(key ?? encoded), id: JSON.stringify([encoded, id]) };
};

const markerOf = (key: string | undefined, id: string | undefined): ListMarker => ({
  key: key === undefined ? undefined : decoded(key),
  id,
});

/** AWS writes a blank as `+`, other servers as `%20`. Undefined if the name is not UTF-8. */
function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/**
 * Gives a client's listings URL-encoded names, also if the server does not encode them (moto 5). They are encoded in
 * the text of the answer, before an XML parser reads it and loses characters.
 */
export function encodeNames({ middlewareStack }: S3Client): void {
  middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const result = await next(args);
        const { response } = result;
        if (!listings.has(commandName) || !hasStream(response)) return result;
        const text = (await buffer(response.body)).toString();
        return {
          ...result,
          response: Object.assign(response, { body: Buffer.from(withEncodedNames(text)) }),
        };
      },
    { step: "deserialize", priority: "low", name: "encodeNames" },
  );
}

const listings = new Set(["ListObjectVersionsCommand", "ListMultipartUploadsCommand"]);

const hasStream = (response: unknown): response is { readonly body: Readable } =>
  typeof response === "object" &&
  response !== null &&
  "body" in response &&
  response.body instanceof Readable;

/** Text in XML contains no `<`, so a name ends at the next one. */
export const withEncodedNames = (xml: string): string =>
  xml.includes("<EncodingType>url<")
    ? xml
    : xml.replace(
        /(<(?:Key|NextKeyMarker)>)([^<]*)(?=<)/g,
        (_, tag: string, text: string) => tag + encodeURIComponent(unescaped(text).toWellFormed()),
      );

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const unescaped = (text: string): string =>
  text.replace(
    /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole;
      const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
