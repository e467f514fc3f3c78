import { s3ClientOf } from "./bucket-handle.ts";
import type { BucketScene } from "./bucket-scene.ts";

/**
 * Keeps one part of the buckets in the proxy, as AWS does: a read returns what was written last. For the parts of which
 * the server of the tests keeps only some fields.
 *
 * @param part as in the operations of `s3-fault-proxy.ts`, such as `BucketLogging`.
 */
export function keptInProxy({ proxy, server }: BucketScene, part: string) {
  const kept = {
    /** As it is sent, in XML. Undefined: the server answers. */
    body: undefined as string | undefined,
    /** A client of the proxy, past the function. */
    s3: s3ClientOf({ ...server, url: proxy.url }),
  };
  proxy.fault = ({ operation, body }) => {
    if (operation === `Put${part}`) kept.body = body;
    if (operation === `Delete${part}`) kept.body = undefined;
    if (/^(Put|Delete)/.test(operation) && operation.endsWith(part)) return { status: 200, body: "" };
    return operation === `Get${part}` && kept.body !== undefined ? { status: 200, body: kept.body } : "none";
  };
  return kept;
}
